/** The trace a call belongs to: the ambient one of OpenTelemetry, where its API is installed, else that of the environment. */

type Api = typeof import("@opentelemetry/api");

let api: Api | undefined;
try {
  api = await import("@opentelemetry/api");
} catch {
  // It is not installed, and nothing here needs it.
}

/** The W3C trace context of the moment, as headers. @internal */
export function ambientTrace(): Record<string, string> {
  const carrier: Record<string, string> = {};
  if (api !== undefined) {
    const span = api.trace.getSpanContext(api.context.active());
    if (span !== undefined && api.isSpanContextValid(span)) {
      carrier.traceparent = `00-${span.traceId}-${span.spanId}-${(span.traceFlags & 0xff).toString(16).padStart(2, "0")}`;
      const state = span.traceState?.serialize();
      if (state) carrier.tracestate = state;
      return carrier;
    }
  }
  if (process.env.TRACEPARENT) carrier.traceparent = process.env.TRACEPARENT;
  if (process.env.TRACEPARENT && process.env.TRACESTATE) carrier.tracestate = process.env.TRACESTATE;
  return carrier;
}

/** Runs `work` as part of a trace; where OpenTelemetry is not installed, it just runs. @internal */
export function withinTrace<T>(traceparent: string, work: () => T): T {
  const parts = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(traceparent);
  if (api === undefined || parts === null) return work();
  const [, traceId, spanId, flags] = parts as unknown as [string, string, string, string];
  const parent = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
  return api.context.with(api.trace.setSpanContext(api.context.active(), parent), work);
}
