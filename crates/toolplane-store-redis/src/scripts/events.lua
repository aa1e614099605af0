#!lua flags=no-writes
-- A page of one stream, and its head, as of one moment.
--
-- KEYS  1 the stream (list)
-- ARGV  1 the first sequence, from 1; 2 the most events
--
-- Reply  {head, events}

local head = redis.call('LLEN', KEYS[1])
local first, most = tonumber(ARGV[1]), tonumber(ARGV[2])
if first > head or most == 0 then
  return {head, {}}
end
return {head, redis.call('LRANGE', KEYS[1], first - 1, math.min(head, first + most - 1) - 1)}
