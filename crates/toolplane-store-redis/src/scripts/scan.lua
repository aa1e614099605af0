#!lua flags=no-writes
-- A page of one index.
--
-- KEYS  1 the index (sorted set)
-- ARGV  1 lowest score, 2 highest score, both inclusive; 3 the most entries; 4 `1` for highest first
--       5 and 6 score and member of the entry to continue after, or nothing
--
-- Reply  member, score, member, score ... in the order asked for

local key, most, downward = KEYS[1], tonumber(ARGV[3]), ARGV[4] == '1'

-- In byte order; Lua's own comparison follows the locale of the server.
local function is_less(one, other)
  for at = 1, math.min(#one, #other) do
    local left, right = one:byte(at), other:byte(at)
    if left ~= right then
      return left < right
    end
  end
  return #one < #other
end

-- How many entries come before (score, member), or with `inclusive` before it or at it.
local function entries_before(score, member, inclusive)
  local low = redis.call('ZCOUNT', key, '-inf', '(' .. score)
  local high = redis.call('ZCOUNT', key, '-inf', score)
  while low < high do
    local middle = math.floor((low + high) / 2)
    local found = redis.call('ZRANGE', key, middle, middle)[1]
    if is_less(found, member) or (inclusive and found == member) then
      low = middle + 1
    else
      high = middle
    end
  end
  return low
end

local first = redis.call('ZCOUNT', key, '-inf', '(' .. ARGV[1])
local past = redis.call('ZCOUNT', key, '-inf', ARGV[2])
if ARGV[5] ~= '' then
  if downward then
    past = math.min(past, entries_before(ARGV[5], ARGV[6], false))
  else
    first = math.max(first, entries_before(ARGV[5], ARGV[6], true))
  end
end
if first >= past or most == 0 then
  return {}
end
if downward then
  local size = redis.call('ZCARD', key)
  local last = math.max(first, past - most)
  return redis.call('ZREVRANGE', key, size - past, size - 1 - last, 'WITHSCORES')
end
return redis.call('ZRANGE', key, first, math.min(past, first + most) - 1, 'WITHSCORES')
