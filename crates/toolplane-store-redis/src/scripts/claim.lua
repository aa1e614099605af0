-- Whose keys these are: the name of the store, and what is written of its shards. Writes what a new store lacks.
--
-- KEYS  1 the name of the store (string)
--       2 what is written of its shards (string); a store of one shard has nothing there
-- ARGV  1 the name a new store gets
--       2 what is to be written of the shards; nothing for a store of one shard
--       3 what may stand there in its place: that it is written is all that is asked then
--       4 `1` when a store that is not there may be made
--
-- Answers {the name, what is written of the shards}, each empty when it is not there.
local name, shards = redis.call('GET', KEYS[1]) or '', redis.call('GET', KEYS[2]) or ''
local fits = shards == ARGV[2] or (shards ~= '' and shards == ARGV[3])
if ARGV[4] == '1' and name == '' and (shards == '' or fits) then
  name = ARGV[1]
  if ARGV[2] ~= '' and shards == '' then
    shards = ARGV[2]
    redis.call('SET', KEYS[2], shards)
  end
  redis.call('SET', KEYS[1], name)
end
return {name, shards}
