// Tells a collector of traces how turns went, step by step, and nothing of what was said.

import type { LogPort, TurnResult, TurnStep } from "@clew/engine-core";
import { shownAddress } from "@clew/plugin-sdk/host";
import type { OtelConfig } from "../config/diagnostics.ts";
import { counted } from "../text/number.ts";
import { planTrace, type Sender, type TellSent, tracesUrl } from "./trace.ts";

export interface TracedTurn {
  step(step: TurnStep): void;
  end(result: Pick<TurnResult, "report">): void;
}

export interface Tracer {
  /** Undefined: nobody traces. */
  begin(): TracedTurn | undefined;
  /** What is left is sent, within some seconds. */
  close(): Promise<void>;
}

export interface TracerOptions {
  settings: OtelConfig;
  version: string;
  log: Pick<LogPort, "warn">;
  /** Loads what sends; for tests. */
  load?: (settings: OtelConfig, version: string, tell: TellSent) => Promise<Sender>;
}

/** Of one turn; a plugin may make very many. */
const MOST_STEPS = 5000;

export function createTracer({ settings, version, log, load = loadSender }: TracerOptions): Tracer {
  if (!settings.enabled) return { begin: () => undefined, close: async () => {} };
  let sender: Promise<Sender | null> | undefined;
  const losses = tellLosses(settings, log);
  const loaded = () => {
    sender ??= load(settings, version, losses.tell).catch((error: Error) => {
      log.warn(`turns are not traced: ${whyNot(error)}`);
      return null;
    });
    return sender;
  };
  return {
    begin() {
      const steps: TurnStep[] = [];
      void loaded();
      return {
        step(step) {
          if (steps.length < MOST_STEPS) steps.push(step);
        },
        end(result) {
          const turn = planTrace(result, steps);
          void loaded().then((ready) => ready?.send(turn));
        },
      };
    },
    async close() {
      const ready = await sender;
      await ready?.close().catch(() => {});
      losses.sum();
    },
  };
}

/** Once when it begins and once when it is over, with how many spans were lost in all. */
function tellLosses(
  { endpoint }: OtelConfig,
  log: Pick<LogPort, "warn">,
): { tell: TellSent; sum(): void } {
  const address = shownAddress(tracesUrl(endpoint));
  let lost = 0;
  let isLosing = false;
  const over = () => {
    if (isLosing) log.warn(`traces: ${counted(lost, "span")} lost in all`);
    isLosing = false;
  };
  return {
    tell(failed) {
      if (failed === null) return over();
      lost += failed.spans;
      if (!isLosing)
        log.warn(
          `traces are lost: the collector at ${address} took ${counted(failed.spans, "span")} not (${failed.why}); start it, or correct diagnostics.otel.endpoint`,
        );
      isLosing = true;
    },
    sum: over,
  };
}

const loadSender: NonNullable<TracerOptions["load"]> = async (settings, version, tell) => {
  const loader = await import("./load-sender.ts");
  return loader.loadSender(settings, version, tell);
};

function whyNot(error: NodeJS.ErrnoException): string {
  return error.code === "ERR_MODULE_NOT_FOUND"
    ? "diagnostics.otel needs packages that do not come with Clew; install @opentelemetry/api, @opentelemetry/resources, @opentelemetry/sdk-trace-base and @opentelemetry/exporter-trace-otlp-http beside it"
    : error.message;
}
