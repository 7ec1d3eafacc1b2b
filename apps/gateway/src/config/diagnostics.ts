// Whom the gateway tells how its turns went, `diagnostics`.
import { z } from "zod";
import { HeadersSchema } from "./headers.ts";

const OtelSchema = z.object({
  enabled: z.boolean().default(false).describe("Whether turns are told to a collector of traces."),
  endpoint: z
    .url({ protocol: /^https?$/ })
    .default("http://127.0.0.1:4318")
    .describe("Address of the collector, which takes OTLP over HTTP; /v1/traces is added."),
  headers: HeadersSchema.optional().describe("Sent along, e.g. with a key."),
  serviceName: z.string().min(1).default("clew").describe("What the gateway is called there."),
  sampleRate: z.number().min(0).max(1).default(1).describe("Which part of all turns is told."),
});

export const DiagnosticsConfigSchema = z.object({
  otel: OtelSchema.prefault({}).describe("Traces of turns, as OpenTelemetry has them."),
});
export type OtelConfig = z.infer<typeof OtelSchema>;
