// Makes spans of turns and sends them, with OpenTelemetry's own packages.
import { context, SpanStatusCode, trace } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  type SpanExporter,
  TraceIdRatioBasedSampler,
} from "@opentelemetry/sdk-trace-base";
import type { OtelConfig } from "../config/diagnostics.ts";
import type { Sender, TellSent, TracePart } from "./trace.ts";
import { tracesUrl } from "./trace.ts";

/** A collector that does not answer keeps nothing from its end for longer, ms. */
const SEND_MS = 2000;

export async function loadSender(
  { endpoint, headers, serviceName, sampleRate }: OtelConfig,
  version: string,
  tell: TellSent,
): Promise<Sender> {
  const exporter = new OTLPTraceExporter({
    url: tracesUrl(endpoint),
    timeoutMillis: SEND_MS,
    ...(headers !== undefined && { headers }),
  });
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({
      ...{ "service.name": serviceName, "service.version": version },
    }),
    sampler: new TraceIdRatioBasedSampler(sampleRate),
    spanProcessors: [
      new BatchSpanProcessor(telling(exporter, tell), { exportTimeoutMillis: SEND_MS }),
    ],
  });
  const tracer = provider.getTracer("clew", version);
  const write = ({ name, startMs, endMs, outcome, attributes }: TracePart, below = BESIDE_ALL) => {
    const span = tracer.startSpan(name, { startTime: startMs, attributes }, below);
    // An abort is nobody's failure.
    if (outcome === "failed") span.setStatus({ code: SpanStatusCode.ERROR });
    if (outcome === "aborted") span.setAttribute("clew.aborted", true);
    span.end(endMs);
    return trace.setSpan(BESIDE_ALL, span);
  };
  return {
    send(turn) {
      const below = write(turn);
      for (const part of turn.parts) write(part, below);
    },
    close: () => provider.shutdown(),
  };
}

/** The library says nowhere by itself that a collector took nothing. */
const telling = (exporter: SpanExporter, tell: TellSent): SpanExporter => ({
  export: (spans, done) =>
    exporter.export(spans, (result) => {
      const { code, error } = result;
      tell(
        code === 0 ? null : { spans: spans.length, why: error?.message ?? "no reason was given" },
      );
      done(result);
    }),
  shutdown: () => exporter.shutdown(),
  forceFlush: async () => exporter.forceFlush?.(),
});

const BESIDE_ALL = context.active();
