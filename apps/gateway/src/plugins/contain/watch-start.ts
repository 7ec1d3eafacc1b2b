// Notes who is at work while a gateway starts, and finds out how it last ended.
import { setTimeout as pause } from "node:timers/promises";
import { bundledFolders } from "../find/bundled.ts";
import { folderOf } from "../load/module-hooks.ts";
import { watchRunning } from "../load/running.ts";
import { enterSafeMode, readSafeMode, suspectInSafeMode } from "../safe-mode.ts";
import { type AtWork, type EndPlan, NOBODY, planEnd, readAtWork, writeAtWork } from "./at-work.ts";
import { reportCrashes, takeCrashReport } from "./crash-report.ts";

/** A start is over this long after nobody waits for it any more: services begin their work. */
const STARTED_MS = 10_000;
/** With which Node ends a process whose last handler failed, or that had none. */
const FATAL_CODES = [1, 5, 6, 7];

export interface WatchedStart {
  /** For people; undefined: there is nothing to tell. */
  told: string | undefined;
  /** The gateway is up. */
  isUp(): void;
  /** The process ends as it should. */
  isEnding(): void;
}

/**
 * Puts plugins into safe mode that may be why processes of this home ended without a word, and
 * notes from now on who has run, and until the start is over who is at work. Throws what the file
 * system says.
 */
export function watchStart(home: string): WatchedStart {
  const found = readAtWork(home);
  const off = readSafeMode(home).plugins;
  const isCrash = takeCrashReport(home);
  const plan = planEnd(found, { isCrash, isOff: (plugin) => Object.hasOwn(off, plugin) });
  if (plan.kind === "again") leaveOff(home, plan);
  reportCrashes(home);
  const ends = plan.kind === "told" ? plan.ends : 0;
  let now: AtWork = { ...NOBODY, ends, before: ends === 0 ? null : (found?.plugin ?? null) };
  const note = (change: Partial<AtWork>) => {
    now = { ...now, ...change };
    writeAtWork(home, now);
  };
  const isEnding = () => writeAtWork(home, undefined);
  const exits = (exitCode: number) => {
    if (!FATAL_CODES.includes(exitCode)) isEnding();
  };
  note({});
  process.once("exit", exits);
  const watch = noteWhoWorks(note);
  return {
    told: plan.kind === "told" ? describeEnd(plan, isCrash) : undefined,
    isUp: () => void pause(STARTED_MS, undefined, { ref: false }).then(watch.endStart),
    isEnding() {
      watch.end();
      process.removeListener("exit", exits);
      isEnding();
    },
  };
}

function leaveOff(home: string, plan: Extract<EndPlan, { kind: "again" }>): void {
  const { off, plugin, isCrash } = plan;
  const at = new Date().toISOString();
  const ended = isCrash ? "crashed" : "ended without a word";
  const times = "as it started, more than once in a row";
  if (isCrash && plugin !== null && off.length === 1)
    enterSafeMode(home, plugin, { at, reason: `was at work when the gateway ${ended} ${times}` });
  else {
    const hint = plugin === null ? "" : `, each time with plugin "${plugin}" at work`;
    suspectInSafeMode(home, off, { at, what: `${ended} ${times}${hint}` });
  }
}

/** Pure. */
export function describeEnd(
  { plugin, ran, ends }: Extract<EndPlan, { kind: "told" }>,
  isCrash: boolean,
): string {
  const ended = isCrash ? "crashed" : "ended without a word";
  const who =
    plugin === null
      ? `; plugins that had run: ${ran.join(", ")}`
      : ` while plugin "${plugin}" was at work`;
  const next =
    ends === 0
      ? ""
      : "; if that goes on, a start leaves off what may be at fault (safe mode), until then everything runs";
  return `the gateway ${ended}${who}${next}`;
}

/** `note` is told of each change; plugins that come with Clew are nobody. */
function noteWhoWorks(note: (change: Partial<AtWork>) => void) {
  const isOurs = bundledFolders();
  const ran: string[] = [];
  /** Calls that are being made: what a promise waits for is nobody's work. */
  const calls: string[] = [];
  let loading: string | null = null;
  let isStarting = true;
  let noted: string | null = null;
  const look = () => {
    const plugin = isStarting ? (calls.at(-1) ?? loading) : null;
    if (plugin === noted) return;
    noted = plugin;
    note({ plugin });
  };
  const known = (pluginId: string) => {
    const folder = folderOf(pluginId);
    if (folder === undefined || isOurs(folder.root)) return undefined;
    const id = folder.pluginId;
    if (!ran.includes(id)) {
      ran.push(id);
      note({ ran });
    }
    return id;
  };
  const end = watchRunning(
    (pluginId, work) => {
      const id = known(pluginId);
      if (id === undefined || !isStarting) return work();
      calls.push(id);
      look();
      try {
        return work();
      } finally {
        calls.pop();
        look();
      }
    },
    (pluginId) => {
      loading = pluginId === null ? null : (known(pluginId) ?? null);
      look();
    },
  );
  return {
    end,
    endStart() {
      isStarting = false;
      noted = null;
      note({ plugin: null, isStarting, ends: 0, before: null });
    },
  };
}
