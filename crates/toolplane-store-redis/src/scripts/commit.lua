-- One atomic commit. It knows records, indexes and streams, and nothing of what they mean.
--
-- The first line is put in front of this text when it is loaded: `#!lua` for commits that are refused when memory is
-- full, `#!lua flags=allow-oom` for those that finish work and must pass.
--
-- Order: identity, replay, compares, bounds, sequences, patterns; only then writes, none of which can fail: records first, then indexes,
-- then streams, then the memory of the operation.
--
-- KEYS  1 the names of non-empty indexes (sorted set)
--       2 the memory of this operation (string)
--       3 the name of the store (string)
--       4 the patterns (hash)
--       then for each compare its record; for each bound its index; for each write its record and the ids of its
--       family (sorted set), or its record once more when they are not kept; for each index change its index; for each append its stream (list); for each stream that
--       is forgotten its list
-- ARGV  1 what names this call, 16 bytes
--       2 which attempt of this call it is, from 1
--       3 for how long the operation is remembered, in milliseconds
--       4 how many compares, 5 bounds, 6 writes, 7 index changes, 8 appends, 9 forgotten streams
--       10 the command that publishes hints, or nothing; 11 the channel; 12 the message
--       13 the name the store had when it was opened
--       14 the names of the patterns that values below are told by, 4 bytes each; the field of the mark of one is its name and `ok`
--       then for each compare the expected version, 0 for none; for each bound the number to stay below; for each write
--       the value behind its version, or nothing to delete; for each index change the name of the index, the score or
--       nothing to remove, and the member; for each append the first sequence, the number of events and the events
--
-- Stored records begin with their version, 6 bytes, highest first.
-- The memory of an operation is `a` and the call that applied it; or `v`, a call and an attempt: that attempt and the
-- ones before it were judged for good and must not be applied when they arrive late.
--
-- Replies  0                       applied
--          {1, call}               applied before, by that call
--          {2, (at, record)*}      compares that do not hold, counted from 1, each with the record or nothing
--          {3, at}                 the first bound that does not hold
--          {4, at, sequence}       the first append that does not continue, and the sequence that would
--          {5}                     this attempt comes too late: a later one was answered
--          {6}                     the store is not the one that was opened: it was emptied, or is another one
--          {7}                     a pattern that a value is told by is not there any more

local call = redis.call
local keys, args = KEYS, ARGV
local me, attempt, keep = args[1], tonumber(args[2]), args[3]
local compares, bounds, writes = tonumber(args[4]), tonumber(args[5]), tonumber(args[6])
local moves, appends, forgotten = tonumber(args[7]), tonumber(args[8]), tonumber(args[9])
local k, a = 4, 14

-- Later attempts leave a mark, so that an earlier one that is still under way stays without effect.
local function refuse(reply)
  if attempt > 1 then
    call('SET', keys[2], 'v' .. me .. (attempt - 1), 'PX', keep)
  end
  return reply
end

local name, seen = unpack(call('MGET', keys[3], keys[2]))
if name ~= args[13] then
  return {6}
end
if seen then
  if seen:sub(1, 1) == 'a' then
    return {1, seen:sub(2)}
  elseif seen:sub(2, 17) == me and attempt <= tonumber(seen:sub(18)) then
    return {5}
  end
end

-- A server that lost its last writes, or one in its place, may have lost patterns that a process knows: no value may depend on them.
local function patterns_are_there()
  local names = {}
  for at = 1, #args[14], 4 do
    names[#names + 1] = args[14]:sub(at, at + 3) .. 'ok'
  end
  if #names == 0 then
    return true
  end
  for _, is_there in ipairs(call('HMGET', keys[4], unpack(names))) do
    if not is_there then
      return false
    end
  end
  return true
end

local first_version = struct.pack('>I6', 1)
local versions = {}
local function version_of(key)
  local version = versions[key]
  if not version then
    local head = call('GETRANGE', key, 0, 5)
    version = head == '' and 0 or struct.unpack('>I6', head)
    versions[key] = version
  end
  return version
end

local lost
for at = 1, compares do
  local key = keys[k + at]
  if version_of(key) ~= tonumber(args[a + at]) then
    lost = lost or {2}
    lost[#lost + 1] = at
    lost[#lost + 1] = call('GET', key) or ''
  end
end
if lost then
  return refuse(lost)
end
k, a = k + compares, a + compares

for at = 1, bounds do
  if call('ZCARD', keys[k + at]) >= tonumber(args[a + at]) then
    return refuse({3, at})
  end
end
k, a = k + bounds, a + bounds

local first_write, first_write_arg = k, a
local first_move, first_move_arg = k + 2 * writes, a + writes
local first_append, first_append_arg = first_move + moves, first_move_arg + 3 * moves

a = first_append_arg
for at = 1, appends do
  local next = string.format('%d', call('LLEN', keys[first_append + at]) + 1)
  if args[a + 1] ~= next then
    return refuse({4, at, next})
  end
  a = a + 2 + tonumber(args[a + 2])
end
if not patterns_are_there() then
  return {7}
end

-- From here on nothing is refused any more.

for at = 1, writes do
  local key, family = keys[first_write + 2 * at - 1], keys[first_write + 2 * at]
  local value, version = args[first_write_arg + at], versions[key]
  -- Most records are new, and nothing compares them: then one command writes them.
  if value ~= '' and not version and call('SET', key, first_version .. value, 'NX') then
    if family ~= key then
      call('ZADD', family, 0, key:sub(#family + 2))
    end
  else
    version = version_of(key)
    if value ~= '' then
      call('SET', key, struct.pack('>I6', version + 1) .. value)
      if version == 0 and family ~= key then
        call('ZADD', family, 0, key:sub(#family + 2))
      end
    elseif version > 0 then
      call('DEL', key)
      if family ~= key then
        call('ZREM', family, key:sub(#family + 2))
      end
    end
  end
end

-- The names of indexes that may be new to the list of names, and the indexes that may be empty now.
local named, left, left_names = {}, {}, {}
for at = 1, moves do
  local key = keys[first_move + at]
  local arg = first_move_arg + 3 * at
  local name, score, member = args[arg - 2], args[arg - 1], args[arg]
  if score ~= '' then
    if call('ZADD', key, score, member) == 1 then
      named[#named + 1], named[#named + 2] = 0, name
    end
  elseif call('ZREM', key, member) == 1 then
    left[#left + 1], left_names[#left_names + 1] = key, name
  end
end
-- Lua passes a few thousand arguments at most, here and below.
for from = 1, #named, 1000 do
  call('ZADD', keys[1], unpack(named, from, math.min(from + 999, #named)))
end
for from = 1, #left, 1000 do
  local last = math.min(from + 999, #left)
  if call('EXISTS', unpack(left, from, last)) < last - from + 1 then
    for at = from, last do
      if call('EXISTS', left[at]) == 0 then
        call('ZREM', keys[1], left_names[at])
      end
    end
  end
end

a = first_append_arg
for at = 1, appends do
  local last = a + 2 + tonumber(args[a + 2])
  for from = a + 3, last, 1000 do
    call('RPUSH', keys[first_append + at], unpack(args, from, math.min(from + 999, last)))
  end
  a = last
end
for at = 1, forgotten do
  call('DEL', keys[first_append + appends + at])
end

call('SET', keys[2], 'a' .. me, 'PX', keep)
if args[10] ~= '' then
  -- A hint may be lost: not being allowed to send it must not look like a commit that failed.
  redis.pcall(args[10], args[11], args[12])
end
return 0
