// What can happen in a random session, each with its choices drawn by chance.
import type { Chance } from "./random.ts";
import type { Step } from "./script.ts";

type Event = (chance: Chance, number: number) => Step;

export const note: Event = (chance, number) => ({
  ...{ do: "note", kind: chance.pick(["bash", "custom", "blocks", "branch"]), in: number },
});
export const again: Event = (_, number) => ({ do: "again", in: number });
export const crash: Event = (chance, number) => ({
  do: "restart",
  unsure: chance.once(0.4),
  in: number,
});
export const dispose: Event = (_, number) => ({ do: "dispose", in: number });
export const look: Event = (chance, number) => ({
  do: "look",
  budget: tightly(chance),
  in: number,
});
export const glance: Event = (_, number) => ({ do: "look", budget: null, in: number });
export const back: Event = (chance, number) => ({
  do: "back",
  turns: 1 + chance.below(3),
  in: number,
});
export const far: Event = (chance, number) => ({
  do: "back",
  turns: 2 + chance.below(4),
  in: number,
});
export const shorten: Event = (_, number) => ({ do: "shorten", in: number });
export const redact: Event = (chance, number) => ({
  ...{ do: "redact", of: chance.pick(["toolResult", "toolResult", "user", "assistant"]) },
  in: number,
});
export const maintain: Event = (_, number) => ({ do: "maintain", in: number });
export const begin: Event = (_, number) => ({ do: "new", in: number });
export const move: Event = (_, number) => ({ do: "move", in: number });
export const fork: Event = (_, number) => ({ do: "fork", in: number });
export const forth: Event = (_, number) => ({ do: "forth", in: number });
export const restore: Event = (chance, number) => ({
  ...{ do: "restore", turns: 1 + chance.below(3), in: number },
});
export const rewrite: Event = (_, number) => ({ do: "rewrite", in: number });
export const compact: Event = (chance, number) => ({
  ...{ do: "compact", by: chance.pick([0.25, 0.5, 0.1]), model: chance.once(0.7), in: number },
  bare: chance.once(0.15),
  asked: chance.pick(["budget", "budget", "threshold"]),
  ...(chance.once(0.3) && { answer: "names" as const }),
});

export const retell: Event = (chance, number) => ({
  do: "again",
  turns: 1 + chance.below(4),
  in: number,
});
export const chat: Event = (chance, number) => ({
  do: "chat",
  turns: 2 + chance.below(5),
  in: number,
});
export const clock: Event = (chance, number) => ({
  ...{
    do: "clock",
    by: chance.pick([-HOUR, -24 * HOUR, -400 * 24 * HOUR, HOUR, 25 * HOUR, 800 * HOUR]),
  },
  in: number,
});
export const spawn: Event = (chance, number) => ({
  ...{ do: "spawn", fork: chance.once(0.5), fails: chance.once(0.25), in: number },
});
export const ended: Event = (chance, number) => ({
  ...{ do: "ended", reason: chance.pick(["completed", "swept", "released"]), in: number },
});
export const shrink: Event = (_, number) => ({ do: "shrink", in: number });
export const goOn: Event = (_, number) => ({ do: "dispose", goesOn: true, in: number });
export const looks: Event = (chance, number) => ({
  ...{ do: "looks", budgets: [tightly(chance), 1_000_000, tightly(chance)], in: number },
});
export const compactOddly: Event = (chance, number) => ({
  ...{ do: "compact", by: chance.pick([0.25, 0.5]), asked: "budget", model: true, bare: false },
  answer: chance.pick(["fails", "breaks", "nothing", "much", "aborted", "late", "before", "soon"]),
  in: number,
});

export const detour: Event = (chance, number) => ({
  ...{
    do: "detour",
    by: chance.pick(["budget", "model", "tools", "prompt", "earlier", "nothing"]),
  },
  in: number,
});

export const abort: Event = (chance, number) => ({
  ...{ do: "compact", by: chance.pick([0.25, 0.5]), asked: "budget", bare: false },
  answer: chance.pick(["aborted", "late", "late", "before", "soon"]),
  model: chance.once(0.8),
  in: number,
});
export const longTurn: Extract<Step, { do: "turn" }> = {
  ...{ do: "turn", says: "plain", tools: [["plain"]], answers: "long", ends: "told" },
  ...{ heartbeat: false, in: 0 },
};
export const shortTurn: typeof longTurn = { ...longTurn, tools: [], answers: "plain" };
export const beat: Step = { ...shortTurn, heartbeat: true };
export const shrinkFirst: Step = { do: "shrink", in: 0 };
export const compactFirst: Event = (chance) => ({ ...compact(chance, 0), in: 0 });
export const noteFirst: Step = { do: "note", kind: "custom", in: 0 };
export const halve: Step = {
  ...{ do: "compact", by: 0.5, model: true, bare: false, asked: "budget", in: 0 },
};
export const forkFirst: Event = (chance) =>
  chance.once(0.6) ? { do: "spawn", fork: true, fails: false, in: 0 } : { do: "fork", in: 0 };

export const glimpse: Event = (chance, number) => ({
  ...{ do: "look", budget: scantily(chance), in: number },
});

const HOUR = 3_600_000;

/** Tokens that hold the newest turn, and perhaps no summary. */
export const scantily = (chance: Chance) => chance.pick([60, 90, 130, 180, 250, 350, 500]);

/** Tokens that hold little, or next to nothing. */
export const tightly = (chance: Chance) => chance.pick([1, 60, 250, 600, 1_200, 2_500, 6_000]);
