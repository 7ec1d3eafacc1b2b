// Keeps the windows that providers named when they refused a request.
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { LogPort, TurnReport } from "@clew/engine-core";
import writeFileAtomic from "write-file-atomic";
import { z } from "zod";

const WindowSchema = z.object({
  /** Of prompt and reply together. */
  tokens: z.number().int().min(1024),
  /** When the provider said it, ISO 8601. */
  at: z.iso.datetime(),
});
const FileSchema = z.object({ v: z.literal(1), models: z.record(z.string(), z.unknown()) });

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
  const file = join(home, "model-windows.json");
  const all = () => readWindows(file);
  // Read and written without a pause: several sessions may learn at once.
  const write = (models: Readonly<Record<string, LearnedWindow>>) => {
    mkdirSync(home, { recursive: true, mode: 0o700 });
    writeFileAtomic.sync(file, `${JSON.stringify({ v: 1, models }, null, 2)}\n`, { mode: 0o600 });
  };
  return {
    all,
    async learn(report, known) {
      const named = namedIn(report, known);
      if (named === undefined) return;
      const { model, tokens } = named;
      try {
        write({ ...all(), [model]: { tokens, at: new Date(now()).toISOString() } });
        log.info(
          `${model} holds ${tokens} tokens, as its provider says; "clew models forget ${model}" forgets it`,
        );
      } catch (error) {
        log.warn(
          `${file} could not be written: ${error instanceof Error ? error.message : String(error)}`,
        );
      }
    },
    async forget(model) {
      const { [model]: forgotten, ...rest } = all();
      if (forgotten === undefined) return false;
      write(rest);
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

function readWindows(file: string): Readonly<Record<string, LearnedWindow>> {
  try {
    const { models } = FileSchema.parse(JSON.parse(readFileSync(file, "utf8")));
    return Object.fromEntries(
      Object.entries(models).flatMap(([model, record]) => {
        const { data } = WindowSchema.safeParse(record);
        return data === undefined ? [] : [[model, data]];
      }),
    );
  } catch {
    return {};
  }
}
