// Names who is at work while a gateway starts, and who was when it last ended.
import { setTimeout as pause } from "node:timers/promises";
import { bundledIds } from "../find/bundled.ts";
import { watchRunning } from "../load/running.ts";
import { enterSafeMode, readSafeMode } from "../safe-mode.ts";
import { NOBODY, planEnd, readAtWork, writeAtWork } from "./at-work.ts";

/** A start is over this long after nobody waits for it any more: services begin their work. */
const STARTED_MS = 10_000;

export interface WatchedStart {
  /** For people; undefined: there is nothing to tell. */
  told: string | undefined;
  /** The gateway is up. */
  isUp(): void;
  /** The process ends as it should. */
  isEnding(): void;
}

/**
 * Puts a plugin into safe mode that was at work when the last two processes of this home ended
 * without a word, and notes from now on, until the start is over, who is at work. Throws what the
 * file system says.
 */
export function watchStart(home: string): WatchedStart {
  const found = readAtWork(home);
  const off = readSafeMode(home).plugins;
  const plan = planEnd(found, (plugin) => Object.hasOwn(off, plugin));
  if (plan.kind === "again") {
    const reason = "was at work when the gateway ended without a word, twice in a row";
    enterSafeMode(home, plan.plugin, { at: new Date().toISOString(), reason });
  }
  const before = plan.kind === "once" ? plan.plugin : null;
  const isEnding = () => writeAtWork(home, NOBODY);
  writeAtWork(home, { plugin: null, before });
  process.once("exit", isEnding);
  const unwatch = noteWhoWorks((plugin) => writeAtWork(home, { plugin, before }));
  return {
    told:
      plan.kind === "once"
        ? `the gateway ended without a word while plugin "${plan.plugin}" was at work; if that happens again, the next start leaves it off (safe mode)`
        : undefined,
    isUp: () => void pause(STARTED_MS, undefined, { ref: false }).then(unwatch),
    isEnding() {
      unwatch();
      process.removeListener("exit", isEnding);
      isEnding();
    },
  };
}

/** `note` is told whenever it is another one, or nobody; plugins that come with Clew are not. */
function noteWhoWorks(note: (plugin: string | null) => void): () => void {
  const ours = bundledIds();
  /** Calls that have begun and are not over. */
  const underWay = new Set<{ pluginId: string }>();
  let noted: string | null = null;
  const look = () => {
    const latest = [...underWay].at(-1)?.pluginId ?? null;
    if (latest === noted) return;
    noted = latest;
    note(latest);
  };
  const unwatch = watchRunning((pluginId, work) => {
    if (ours.has(pluginId)) return work();
    const call = { pluginId };
    const end = () => {
      if (underWay.delete(call)) look();
    };
    underWay.add(call);
    look();
    let isOver = true;
    try {
      const result = work();
      if (!(result instanceof Promise)) return result;
      isOver = false;
      return after(result, end) as typeof result;
    } finally {
      if (isOver) end();
    }
  });
  return () => {
    unwatch();
    underWay.clear();
    look();
  };
}

async function after<Result>(result: Promise<Result>, end: () => void): Promise<Result> {
  try {
    return await result;
  } finally {
    end();
  }
}
