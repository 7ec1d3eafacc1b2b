// Tells a collector of traces how turns went, step by step, and nothing of what was said.
import type { LogPort, TurnResult, TurnStep } from "@clew/engine-core";
import type { OtelConfig } from "../config/diagnostics.ts";
import { planTrace, type Sender } from "./trace.ts";

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
  load?: (settings: OtelConfig, version: string) => Promise<Sender>;
}

/** Of one turn; a plugin may make very many. */
const MOST_STEPS = 5000;

export function createTracer({ settings, version, log, load = loadSender }: TracerOptions): Tracer {
  if (!settings.enabled) return { begin: () => undefined, close: async () => {} };
  let sender: Promise<Sender | null> | undefined;
  const loaded = () => {
    sender ??= load(settings, version).catch((error: Error) => {
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
      await ready?.close();
    },
  };
}

async function loadSender(settings: OtelConfig, version: string): Promise<Sender> {
  const loader = await import("./load-sender.ts");
  return loader.loadSender(settings, version);
}

function whyNot(error: NodeJS.ErrnoException): string {
  return error.code === "ERR_MODULE_NOT_FOUND"
    ? "diagnostics.otel needs packages that do not come with Clew; install @opentelemetry/api, @opentelemetry/resources, @opentelemetry/sdk-trace-base and @opentelemetry/exporter-trace-otlp-http beside it"
    : error.message;
}
