// Runs `clew compare`, recordings through several engines side by side.
import { access, constants, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import type { Format } from "../imports/foreign.ts";
import { type Compared, figuresOf, formatComparison } from "../lab/compare.ts";
import { playRecording } from "../lab/play.ts";
import { MOST_ENGINES, renderReport } from "../lab/report-html.ts";
import { modelToPlay, planPlaySettings } from "../lab/settings.ts";
import { storageFailed } from "../storage-error.ts";
import { printable } from "../terminal/output.ts";
import type { Shell } from "../terminal/shell.ts";
import { number } from "../text/number.ts";
import { VERSION } from "../version.ts";
import { findRecording } from "./find-recording.ts";
import { showProgress } from "./progress.ts";
import { setUp } from "./setup.ts";

export interface CompareOptions {
  from?: Format;
  engines: string;
  contextWindow?: number;
  model?: string;
  html?: string;
  json?: boolean;
}

export async function compareCommand(
  names: readonly string[],
  options: CompareOptions,
  shell: Shell,
): Promise<number> {
  const engines = planEngines(options.engines);
  const recordings = await Promise.all(
    names.map((name) => findRecording(name, shell.environment, { from: options.from })),
  );
  const setup = await setUp(shell, {}, { showProblems: true, logOf: null });
  const { environment, loaded, log, output } = setup;
  const cancelled = new AbortController();
  const onSignal = () => cancelled.abort();
  process.once("SIGINT", onSignal).once("SIGTERM", onSignal);
  const { signal } = cancelled;
  try {
    // What is wrong with what is asked is said before hours of playing.
    if (options.html !== undefined) await checkReport(options.html);
    for (const engine of engines)
      await playRecording({
        ...{ environment, log, turns: [], engine, signal },
        loaded: planPlaySettings(loaded, { engine, model: options.model }),
      });
    const all: Compared[] = [];
    for (const { name, turns, model: recorded } of recordings)
      for (const engine of engines) {
        const progress = showProgress(output, `${name}, ${engine}`);
        const chosen = planPlaySettings(loaded, {
          engine,
          model: options.model ?? modelToPlay(recorded, loaded, environment),
        });
        const played = await playRecording({
          ...{ environment, log, turns, engine, signal, onProgress: progress.show },
          ...{ loaded: chosen, contextWindow: options.contextWindow },
        });
        all.push({ recording: name, ...played });
      }
    const figures = all.map(figuresOf);
    if (options.html !== undefined) {
      const page = renderReport(all, { version: VERSION, madeAt: new Date().toISOString() });
      await writeReport(options.html, page);
    }
    if (options.json === true) output.json({ figures, compared: all.map(withoutPlaces) });
    else {
      output.line(printable(formatComparison(figures)));
      output.line(describeWindows(all.map(({ contextWindow }) => contextWindow)));
      if (options.html !== undefined) output.line(`The report is ${resolve(options.html)}.`);
    }
    return 0;
  } finally {
    process.off("SIGINT", onSignal).off("SIGTERM", onSignal);
    log.close();
  }
}

/** Pure. What the figures depend on, and why "clew whatif" has others of a session. */
function describeWindows(windows: readonly number[]): string {
  const all = [...new Set(windows)].map(number).join(" and ");
  return `Played in a window of ${all} tokens (--context-window names another), with the tools and the system prompt of the settings. "clew whatif" plays a session with its own, so its figures differ.`;
}

/** Each once. Throws REQUEST_INVALID. */
function planEngines(text: string): string[] {
  const engines = [...new Set(text.split(",").map((name) => name.trim()))].filter(Boolean);
  if (engines.length > 0 && engines.length <= MOST_ENGINES) return engines;
  throw new ContextEngineError(
    "REQUEST_INVALID",
    `--engines ${JSON.stringify(text)} names ${engines.length} engines; name one to ${MOST_ENGINES}, as in "legacy,lossless".`,
  );
}

async function checkReport(file: string): Promise<void> {
  try {
    await access(dirname(resolve(file)), constants.W_OK);
  } catch (error) {
    throw storageFailed(`The report ${resolve(file)} cannot be written`, error, "elsewhere");
  }
}

async function writeReport(file: string, page: string): Promise<void> {
  try {
    await writeFile(file, page);
  } catch (error) {
    throw storageFailed(`The report ${resolve(file)} cannot be written`, error, "elsewhere");
  }
}

const withoutPlaces = ({ points, ...compared }: Compared) => ({
  ...compared,
  points: points.map((point) => ({ ...point, place: undefined })),
});
