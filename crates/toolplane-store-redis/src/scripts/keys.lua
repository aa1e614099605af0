#!lua flags=no-writes
-- A page of the records of one family, in byte order of their ids.
--
-- KEYS  1 the ids of the family (sorted set). A record lies beside it, in the same slot, under this key, a colon and its id.
-- ARGV  1 the id to start after, or nothing; 2 the most records
--
-- Reply  id, record, id, record ...

local from = ARGV[1] == '' and '-' or '(' .. ARGV[1]
local ids = redis.call('ZRANGEBYLEX', KEYS[1], from, '+', 'LIMIT', 0, ARGV[2])
local reply = {}
for at = 1, #ids do
  reply[2 * at - 1] = ids[at]
  reply[2 * at] = redis.call('GET', KEYS[1] .. ':' .. ids[at])
end
return reply
