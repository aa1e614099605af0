#!lua
-- Keeps one pattern, twice and with a mark that it is there, unless something else has its name.
--
-- KEYS  1 the name of the store (string)
--       2 the patterns (hash)
-- ARGV  1 the name the store had when it was opened; 2 the pattern's field; 3 that of its copy; 4 the pattern
--
-- Reply  1 when it is kept, now or before; 0 when it is not

if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
redis.call('HSETNX', KEYS[2], ARGV[2], ARGV[4])
redis.call('HSETNX', KEYS[2], ARGV[3], ARGV[4])
local first, second = unpack(redis.call('HMGET', KEYS[2], ARGV[2], ARGV[3]))
if first ~= ARGV[4] or second ~= ARGV[4] then
  return 0
end
-- Patterns are large, and every commit asks whether they are there: for the mark.
redis.call('HSET', KEYS[2], ARGV[2] .. 'ok', '')
return 1
