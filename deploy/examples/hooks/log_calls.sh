#!/bin/sh
# Leaves a line about every call in its hook records, and context for the model when a call took long.
call=$(cat)
# What Toolplane says of a call stands before the values of the call itself.
field() { printf '%s' "$call" | grep -o "\"$1\":\"\{0,1\}[^\",}\\]*" | head -n 1 | sed 's/.*://; s/"//g'; }

tool=$(field tool_name)
ms=$(field duration_ms)
if [ "${ms:-0}" -gt 30000 ]; then
    printf '{"message":"%s took %s ms","additional_context":["%s is slow here; ask for less at a time"]}\n' "$tool" "$ms" "$tool"
else
    printf '{"message":"%s by %s"}\n' "$tool" "$(field actor_ref)"
fi
