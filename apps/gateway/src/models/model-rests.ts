// Keeps which models failed lately, so that not every turn waits for them again.
import type { FailureKind, LogPort, TurnReport } from "@clew/engine-core";
import { z } from "zod";
import { createModelRecords } from "./model-records.ts";
import { planRest, type Rest, type Rests, whoRests } from "./plan-rest.ts";

const RestSchema = z.object({
  kind: z.string().transform((kind) => kind as FailureKind),
  at: z.iso.datetime(),
  until: z.iso.datetime(),
  failures: z.number().int().positive(),
});

type Report = Pick<TurnReport, "outcome" | "code" | "model" | "modelCalls" | "recoveries">;

export interface ModelRests {
  /**
   * Read anew each time, because another process may end some; what cannot be understood is left
   * out, and a missing file holds nothing.
   */
  all(): Rests;
  /** Learns from the calls of one turn. A file that cannot be written is logged. */
  learn(report: Report): void;
  /** False: it did not rest. Throws what the disk throws. */
  end(model: string): boolean;
}

export function createModelRests({
  home,
  log,
  now = Date.now,
}: {
  home: string;
  log: LogPort;
  /** ms since the epoch. */
  now?: () => number;
}): ModelRests {
  const records = createModelRecords({ home, name: "model-rests.json", schema: RestSchema, log });
  return {
    all: records.all,
    learn(report) {
      const before = records.all();
      const after = restsAfter(before, report, now());
      if (after !== before) records.tryWrite(after);
    },
    end(model) {
      const rests = records.all();
      const left = without(rests, [model, `${model.slice(0, model.indexOf("/"))}/*`]);
      if (left === rests) return false;
      records.write(left);
      return true;
    },
  };
}

/** Pure. Who failed in a turn rests, and who answered is rested; the same object without news. */
export function restsAfter(before: Rests, report: Report, now: number): Rests {
  const { recoveries = [], outcome, code, model, modelCalls } = report;
  const last = modelCalls.at(-1);
  const failed = [
    ...recoveries.flatMap(({ action, model: name, kind, retryAfterMs }) =>
      action === "fallback" ? [{ name, kind, retryAfterMs }] : [],
    ),
    ...(outcome === "failed" && last?.failure !== undefined && last.failure.kind === code
      ? [{ name: model.resolved, ...last.failure }]
      : []),
  ];
  const answered =
    outcome === "completed"
      ? without(before, [
          model.resolved,
          `${model.resolved.slice(0, model.resolved.indexOf("/"))}/*`,
        ])
      : before;
  const fresh = new Map<string, Rest>();
  for (const { name, kind, retryAfterMs } of failed) {
    const who = whoRests(name, kind);
    if (who !== undefined) fresh.set(who, planRest(answered[who], { kind, retryAfterMs, now }));
  }
  return fresh.size === 0 ? answered : { ...answered, ...Object.fromEntries(fresh) };
}

/** The same object when none of them rests. */
function without(rests: Rests, names: readonly string[]): Rests {
  if (!names.some((name) => Object.hasOwn(rests, name))) return rests;
  return Object.fromEntries(Object.entries(rests).filter(([name]) => !names.includes(name)));
}
