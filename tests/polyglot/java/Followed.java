package example;

import java.util.List;
import toolplane.v1.EventOuterClass.Event;
import toolplane.v1.Result.ToolResult;

/** A call that has ended, with all that happened. */
record Followed(List<Event> events, ToolResult result) {}
