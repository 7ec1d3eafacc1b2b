// Says which plugin changed what all code of the process shares.
import type { Strays } from "../strays.ts";
import { isProcessGuarded } from "./guard-process.ts";
import { type SharedChange, type SharedObjects, watchShared } from "./shared-objects.ts";

export interface SharedWatch {
  /** Runs a plugin's code: what it changed is put back before anything else runs. */
  around<Result>(pluginId: string, work: () => Result): Result;
  /** To be called before a plugin is loaded, and whenever a run is over. */
  afterRun(): void;
  /** A plugin was loaded, and has registered what it offers. */
  afterLoad(pluginId: string): void;
}

const NAMED = 8;
const HOW: Record<SharedChange["kind"], string> = {
  changed: "",
  removed: "removed, ",
  added: "added, ",
  frozen: "frozen, ",
};

/** One for the process: what it remembers is from before any plugin ran. */
let ofProcess: SharedObjects | undefined;

/** What was found where nobody could say yet whose doing it was. */
const unsaid: SharedChange[] = [];

/** Puts back what has to work before anything else can be done; it is told of later. */
export function mendShared(): void {
  if (ofProcess !== undefined) unsaid.push(...ofProcess.glance());
}

/** Undefined: the process is not ours to look after. */
export function createSharedWatch(
  strays: Strays,
  shared: SharedObjects | undefined = sharedOfProcess(),
): SharedWatch | undefined {
  if (shared === undefined) return undefined;
  const known = new Set<string>();
  const note = (changes: readonly SharedChange[], suspects: readonly string[]) => {
    if (changes.length === 0) return;
    for (const pluginId of suspects) {
      const others = suspects.filter((id) => id !== pluginId);
      strays.note(pluginId, describeChanges(changes, others), "changed");
    }
  };
  return {
    around(pluginId, work) {
      // A timer's doing is not that of whoever is called next.
      note([...unsaid.splice(0), ...shared.peek()], [...known]);
      known.add(pluginId);
      const after = () => note(shared.peek(), [pluginId]);
      let result: ReturnType<typeof work>;
      try {
        result = work();
      } finally {
        after();
      }
      return result instanceof Promise ? (settled(result, after) as typeof result) : result;
    },
    afterRun: () => note([...unsaid.splice(0), ...shared.glance()], [...known]),
    afterLoad(pluginId) {
      known.add(pluginId);
      note(shared.check(), [pluginId]);
    },
  };
}

/** `await` asks for no method that could have been changed. */
async function settled<Result>(result: Promise<Result>, after: () => void): Promise<Result> {
  try {
    return await result;
  } finally {
    after();
  }
}

function sharedOfProcess(): SharedObjects | undefined {
  if (isProcessGuarded()) ofProcess ??= watchShared();
  return ofProcess;
}

/** Pure. `others`: who may have done it as well. */
export function describeChanges(
  changes: readonly SharedChange[],
  others: readonly string[] = [],
): string {
  const who = ["it", ...others.map((id) => `plugin "${id}"`)].join(" or ");
  const named = changes.slice(0, NAMED).map(({ name, kind, isMended }) => {
    const now = isMended ? "put back" : kind === "added" ? "which stays" : "until a restart";
    return `${name} (${HOW[kind]}${now})`;
  });
  const more = changes.length > NAMED ? ` and ${changes.length - NAMED} more` : "";
  return `${who} changed what all code here shares: ${named.join(", ")}${more}`;
}
