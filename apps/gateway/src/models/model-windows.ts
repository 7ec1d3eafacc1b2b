// Keeps the windows that providers named when they refused a request.
import type { LogPort, TurnReport } from "@clew/engine-core";
import { z } from "zod";
import { createModelRecords } from "./model-records.ts";

const WindowSchema = z.object({
  /** Of prompt and reply together. */
  tokens: z.number().int().min(1024),
  /** When the provider said it, ISO 8601. */
  at: z.iso.datetime(),
});

export type LearnedWindow = z.infer<typeof WindowSchema>;

export interface ModelWindows {
  /**
   * By "provider/id". Read anew each time, because another process may forget some; what cannot be
   * understood is left out, and a missing file holds nothing.
   */
  all(): Readonly<Record<string, LearnedWindow>>;
  /**
   * Learns from the calls of one turn what is less than is known of a model (tokens). A file that
   * cannot be written is logged.
   */
  learn(
    report: Pick<TurnReport, "model" | "modelCalls">,
    known: (model: string) => number,
  ): Promise<void>;
  /** False: nothing was known of this model. Throws what the disk throws. */
  forget(model: string): Promise<boolean>;
}

export function createModelWindows({
  home,
  log,
  now = Date.now,
}: {
  home: string;
  log: LogPort;
  /** ms since the epoch. */
  now?: () => number;
}): ModelWindows {
  const schema = WindowSchema;
  const records = createModelRecords({ home, name: "model-windows.json", schema, log });
  return {
    all: records.all,
    async learn(report, known) {
      const named = namedIn(report, known);
      if (named === undefined) return;
      const { model, tokens } = named;
      const windows = { ...records.all(), [model]: { tokens, at: new Date(now()).toISOString() } };
      if (records.tryWrite(windows))
        log.info(
          `${model} holds ${tokens} tokens, as its provider says; "clew models forget ${model}" forgets it`,
        );
    },
    async forget(model) {
      const { [model]: forgotten, ...rest } = records.all();
      if (forgotten === undefined) return false;
      records.write(rest);
      return true;
    },
  };
}

/** Pure. What the newest refusal of a turn says that the model holds, where that is news. */
export function namedIn(
  { modelCalls, model: { resolved } }: Pick<TurnReport, "model" | "modelCalls">,
  known: (model: string) => number,
): { model: string; tokens: number } | undefined {
  const call = modelCalls.findLast(({ windowTokens }) => windowTokens !== undefined);
  if (call?.windowTokens === undefined) return undefined;
  const { model = resolved, windowTokens: tokens } = call;
  return tokens < known(model) ? { model, tokens } : undefined;
}
