// Conformance cases of random sessions in which what is rare happens often.
import type { ConformanceCase } from "../case.ts";
import {
  explore,
  exploreCompacted,
  exploreKills,
  exploreLong,
  exploreMany,
  explorePast,
  exploreSizes,
} from "../sessions/explore.ts";
import type { Weather } from "../sessions/generate.ts";
import type { Chance } from "../sessions/random.ts";
import type { Step } from "../sessions/script.ts";

type Event = (chance: Chance, number: number) => Step;

const note: Event = (chance, number) => ({
  ...{ do: "note", kind: chance.pick(["bash", "custom", "blocks", "branch"]), in: number },
});
const again: Event = (_, number) => ({ do: "again", in: number });
const crash: Event = (chance, number) => ({ do: "restart", unsure: chance.once(0.4), in: number });
const dispose: Event = (_, number) => ({ do: "dispose", in: number });
const look: Event = (chance, number) => ({ do: "look", budget: tightly(chance), in: number });
const glance: Event = (_, number) => ({ do: "look", budget: null, in: number });
const back: Event = (chance, number) => ({ do: "back", turns: 1 + chance.below(3), in: number });
const far: Event = (chance, number) => ({ do: "back", turns: 2 + chance.below(4), in: number });
const shorten: Event = (_, number) => ({ do: "shorten", in: number });
const redact: Event = (chance, number) => ({
  ...{ do: "redact", of: chance.pick(["toolResult", "toolResult", "user", "assistant"]) },
  in: number,
});
const maintain: Event = (_, number) => ({ do: "maintain", in: number });
const begin: Event = (_, number) => ({ do: "new", in: number });
const move: Event = (_, number) => ({ do: "move", in: number });
const fork: Event = (_, number) => ({ do: "fork", in: number });
const forth: Event = (_, number) => ({ do: "forth", in: number });
const restore: Event = (chance, number) => ({
  ...{ do: "restore", turns: 1 + chance.below(3), in: number },
});
const rewrite: Event = (_, number) => ({ do: "rewrite", in: number });
const compact: Event = (chance, number) => ({
  ...{ do: "compact", by: chance.pick([0.25, 0.5, 0.1]), model: chance.once(0.7), in: number },
  bare: chance.once(0.15),
  asked: chance.pick(["budget", "budget", "threshold"]),
  ...(chance.once(0.3) && { answer: "names" as const }),
});

const retell: Event = (chance, number) => ({ do: "again", turns: 1 + chance.below(4), in: number });
const chat: Event = (chance, number) => ({ do: "chat", turns: 2 + chance.below(5), in: number });
const clock: Event = (chance, number) => ({
  ...{
    do: "clock",
    by: chance.pick([-HOUR, -24 * HOUR, -400 * 24 * HOUR, HOUR, 25 * HOUR, 800 * HOUR]),
  },
  in: number,
});
const spawn: Event = (chance, number) => ({
  ...{ do: "spawn", fork: chance.once(0.5), fails: chance.once(0.25), in: number },
});
const ended: Event = (chance, number) => ({
  ...{ do: "ended", reason: chance.pick(["completed", "swept", "released"]), in: number },
});
const shrink: Event = (_, number) => ({ do: "shrink", in: number });
const goOn: Event = (_, number) => ({ do: "dispose", goesOn: true, in: number });
const looks: Event = (chance, number) => ({
  ...{ do: "looks", budgets: [tightly(chance), 1_000_000, tightly(chance)], in: number },
});
const compactOddly: Event = (chance, number) => ({
  ...{ do: "compact", by: chance.pick([0.25, 0.5]), asked: "budget", model: true, bare: false },
  answer: chance.pick(["fails", "breaks", "nothing", "much", "aborted", "late", "before", "soon"]),
  in: number,
});

const detour: Event = (chance, number) => ({
  ...{
    do: "detour",
    by: chance.pick(["budget", "model", "tools", "prompt", "earlier", "nothing"]),
  },
  in: number,
});

const abort: Event = (chance, number) => ({
  ...{ do: "compact", by: chance.pick([0.25, 0.5]), asked: "budget", bare: false },
  answer: chance.pick(["aborted", "late", "late", "before", "soon"]),
  model: chance.once(0.8),
  in: number,
});
const longTurn: Extract<Step, { do: "turn" }> = {
  ...{ do: "turn", says: "plain", tools: [["plain"]], answers: "long", ends: "told" },
  ...{ heartbeat: false, in: 0 },
};
const shortTurn: typeof longTurn = { ...longTurn, tools: [], answers: "plain" };
const beat: Step = { ...shortTurn, heartbeat: true };
const shrinkFirst: Step = { do: "shrink", in: 0 };
const compactFirst: Event = (chance) => ({ ...compact(chance, 0), in: 0 });
const noteFirst: Step = { do: "note", kind: "custom", in: 0 };
const halve: Step = {
  ...{ do: "compact", by: 0.5, model: true, bare: false, asked: "budget", in: 0 },
};
const forkFirst: Event = (chance) =>
  chance.once(0.6) ? { do: "spawn", fork: true, fails: false, in: 0 } : { do: "fork", in: 0 };

const glimpse: Event = (chance, number) => ({
  ...{ do: "look", budget: scantily(chance), in: number },
});

const HOUR = 3_600_000;

/** Tokens that hold the newest turn, and perhaps no summary. */
const scantily = (chance: Chance) => chance.pick([60, 90, 130, 180, 250, 350, 500]);

/** Tokens that hold little, or next to nothing. */
const tightly = (chance: Chance) => chance.pick([1, 60, 250, 600, 1_200, 2_500, 6_000]);

interface Kind {
  name: string;
  title: string;
  rule: string;
  weather: Weather;
}

const KINDS: readonly Kind[] = [
  {
    name: "quiet",
    title: "shows and keeps all that is said in a session, word for word",
    rule: "A message that is shown is shown as it was said, or it is cut and says so.",
    weather: { events: [note, glance], eventful: 0.2, most: 7 },
  },
  {
    name: "crashes",
    title: "shows the same after crashes, at whatever moment, and keeps what outlives them",
    rule: "The same history gives the same messages, after a restart too, so that prompt caches hold.",
    weather: { events: [crash, crash, again, dispose, compact], eventful: 0.5, most: 12 },
  },
  {
    name: "branches",
    title: "shows nothing that was left when the person went back, and all that was not",
    rule: "Nothing is shown of a branch that the given history is not on.",
    weather: {
      events: [back, back, forth, shorten, glance, crash, compact],
      eventful: 0.45,
      most: 14,
    },
  },
  {
    name: "missed-turns",
    title: "catches up on turns that failed or that another engine answered",
    rule: "what a turn left that failed or was aborted comes with the next one",
    weather: {
      events: [crash, again, note],
      eventful: 0.2,
      most: 10,
      turn: (chance) => ({ ends: chance.pick(["told", "told", "missed", "failed"]) }),
      host: (chance) => ({ together: chance.once(0.5) }),
    },
  },
  {
    name: "heartbeats",
    title: "loses nothing of a person's between runs that the host began by itself",
    rule: "True: said in a heartbeat, a run the host starts by itself.",
    weather: {
      begins: (chance) => (chance.once(0.4) ? [beat, shortTurn] : []),
      events: [crash, again],
      eventful: 0.2,
      most: 10,
      count: 2,
      turn: (chance) => ({
        heartbeat: chance.once(0.4),
        ends: chance.pick(["told", "told", "told", "failed"]),
      }),
      // In a file everything stands that it was not told or did not take in.
      host: (chance) => ({ files: chance.once(0.5) }),
    },
  },
  {
    name: "budgets",
    title: "shows what there is room for, and always the request that is being answered",
    rule: "The request that is being answered, and what its tools returned last, are shown at any budget.",
    weather: {
      events: [look, look, crash],
      eventful: 0.35,
      most: 10,
      host: (chance) => ({ budget: tightly(chance) }),
    },
  },
  {
    name: "compactions",
    title: "gets smaller when it is asked to, and stays so, without losing the request",
    rule: "`{ ok: true, compacted: true }` promises a smaller next assembly",
    weather: {
      // What a host adds may stand in the part that stays.
      begins: (chance) =>
        chance.once(0.3) ? [longTurn, longTurn, shortTurn, noteFirst, shortTurn, halve] : [],
      events: [compact, compact, maintain, crash, again, dispose, goOn],
      eventful: 0.4,
      most: 12,
      turn: (chance) => (chance.once(0.4) ? { tools: [["long", "plain"]], answers: "long" } : {}),
    },
  },
  {
    name: "everything",
    title: "holds to all of it when anything may follow anything",
    rule: "No session shows anything of another.",
    weather: {
      events: [
        note,
        again,
        crash,
        dispose,
        look,
        back,
        shorten,
        maintain,
        compact,
        begin,
        move,
        fork,
        ...[retell, chat, spawn, goOn, looks, compactOddly, detour],
      ],
      count: 2,
      eventful: 0.5,
      most: 16,
      sessions: 2,
      turn: (chance) => ({
        ends: chance.pick(["told", "told", "told", "missed", "failed", "aborted"]),
      }),
      host: (chance) => ({
        budget: chance.once(0.3) ? tightly(chance) : null,
        together: chance.once(0.5),
        keys: chance.once(0.8),
        eager: chance.once(0.3),
      }),
    },
  },
  {
    name: "other-sessions",
    title: "keeps sessions apart that begin anew, move on, or are copies of each other",
    rule: "No session shows anything of another.",
    weather: {
      events: [begin, move, fork, crash, again, compact],
      eventful: 0.35,
      most: 14,
      sessions: 3,
    },
  },
  {
    name: "without-files",
    title: "works for hosts that keep no session file and make the engine anew for each turn",
    rule: "Absent: the host keeps no file; an engine that needs one says so in `reason`.",
    weather: {
      events: [crash, again, back, note, compact],
      eventful: 0.3,
      most: 10,
      turn: (chance) => ({ ends: chance.pick(["told", "told", "told", "missed"]) }),
      host: (chance) => ({ files: false, remakes: chance.once(0.6), keys: chance.once(0.7) }),
    },
  },
  {
    name: "without-ids",
    title: "works for hosts that give messages no ids, shorten results and hand views back",
    rule: "Absent: the message was not stored yet, or nobody told.",
    weather: {
      events: [crash, glance, compact],
      eventful: 0.25,
      most: 9,
      host: (chance) => ({
        ...{ ids: false, files: false, feedsBack: chance.once(0.5) },
        remakes: chance.once(0.5),
        budget: chance.once(0.3) ? 6_000 : null,
      }),
    },
  },
  {
    name: "eager-hosts",
    title: "works for hosts that know no committed turns",
    rule: "Absent: the engine has the eager lifecycle.",
    weather: {
      events: [crash, again, back, note],
      eventful: 0.3,
      most: 10,
      turn: (chance) => ({ ends: chance.pick(["told", "told", "missed", "failed"]) }),
      host: (chance) => ({ eager: true, together: chance.once(0.5) }),
    },
  },
  {
    name: "growing",
    title: "goes on from what it showed before, however often a session outgrows its room",
    rule: "The same history gives the same messages, after a restart too, so that prompt caches hold.",
    weather: {
      events: [crash, dispose, again, back, compact],
      eventful: 0.2,
      most: 20,
      turn: (chance) => (chance.once(0.5) ? { answers: "long" } : {}),
      host: (chance) => ({
        budget: chance.pick([1_500, 2_500, 4_000, 8_000]),
        merges: chance.once(0.3),
      }),
    },
  },
  {
    name: "files",
    title: "reads session files that were restored, written anew, or do not end their last line",
    rule: "Must be idempotent: the same transcript twice imports nothing twice.",
    weather: {
      events: [restore, rewrite, back, forth, crash, crash, shorten],
      eventful: 0.5,
      most: 12,
      turn: (chance) => ({ ends: chance.pick(["told", "told", "missed", "failed"]) }),
      host: (chance) => ({ endsLines: chance.once(0.6), merges: chance.once(0.3) }),
    },
  },
  {
    name: "without-times",
    title: "works for hosts that give messages neither ids nor times nor keys",
    rule: "Absent: not known.",
    weather: {
      events: [crash, glance, again, compact],
      eventful: 0.25,
      most: 10,
      host: (chance) => ({
        ...{ ids: false, times: false, files: false, eager: true, feedsBack: chance.once(0.5) },
        budget: chance.once(0.5) ? chance.pick([1_500, 2_500, 6_000]) : null,
      }),
    },
  },
  {
    name: "without-folder",
    title: "works where it is made without an argument",
    rule: "Makes the engine for one agent; must also work without an argument.",
    weather: {
      events: [again, back, note, compact, glance],
      eventful: 0.35,
      most: 10,
      sessions: 2,
      host: (chance) => ({ folder: false, budget: chance.once(0.4) ? tightly(chance) : null }),
    },
  },
  {
    name: "at-once",
    title: "keeps apart and whole what is said in several sessions at the same time",
    rule: "No session shows anything of another.",
    weather: {
      events: [glance, look, crash, maintain],
      eventful: 0.2,
      most: 14,
      sessions: 3,
      host: (chance) => ({ atOnce: true, budget: chance.once(0.3) ? tightly(chance) : null }),
    },
  },
  {
    name: "compacted-branches",
    title: "shows nothing that was left when the person went back behind a compaction",
    rule: "Nothing is shown of a branch that the given history is not on.",
    weather: {
      // An engine need not know which branch a compaction is for that it was told nothing of.
      early: [compact],
      events: [far, far, far, back, forth, crash],
      eventful: 0.4,
      most: 18,
      count: 2,
      turn: (chance) => (chance.once(0.6) ? { answers: "long" } : {}),
    },
  },
  {
    name: "late-histories",
    title: "shows nothing that was left where a history begins late",
    rule: "Nothing is shown of a branch that the given history is not on.",
    weather: {
      events: [back, back, forth, glance, crash, again],
      eventful: 0.4,
      most: 12,
      host: (chance) => ({ newest: 1 + chance.below(3), together: chance.once(0.3) }),
    },
  },
  {
    name: "rewritten",
    title: "shows a message that was rewritten as it reads now",
    rule: "One that was rewritten is shown as the history has it.",
    weather: {
      events: [redact, redact, glance, crash, look],
      eventful: 0.4,
      most: 14,
      turn: (chance) => (chance.once(0.5) ? { tools: [["long", "plain"]] } : {}),
    },
  },
  {
    name: "odd-clocks",
    title: "goes by what is told and in which order, not by times, nor by ids of other transcripts",
    rule: "Absent: not known.",
    weather: {
      events: [crash, crash, begin, begin, again, note, move, dispose],
      eventful: 0.45,
      most: 12,
      turn: (chance) => (chance.once(0.2) ? { says: "same" } : {}),
      host: () => ({ oddTimes: true, repeatsIds: true }),
    },
  },
  {
    name: "children",
    title: "keeps a child and its parent apart, whatever becomes of either",
    rule: "No session shows anything of another.",
    weather: {
      events: [spawn, spawn, fork, ended, crash, again, glance, compact, compact],
      eventful: 0.45,
      most: 14,
      sessions: 3,
      host: (chance) => ({ watches: chance.once(0.7) }),
    },
  },
  {
    name: "clocks",
    title: "goes by the order in which it is told, whatever the machine's clock shows",
    rule: "The same history gives the same messages, after a restart too, so that prompt caches hold.",
    weather: {
      events: [clock, clock, clock, crash, again, glance, note, compact],
      eventful: 0.45,
      most: 14,
      host: (chance) => ({ budget: chance.once(0.3) ? 2_500 : null }),
    },
  },
  {
    name: "told-again",
    title: "takes in once what is told again long after, or in part, or beside what is new",
    rule: "A turn told again, also after a crash, adds nothing.",
    weather: {
      events: [retell, retell, chat, crash, note],
      eventful: 0.45,
      most: 12,
      turn: (chance) => ({
        ends: chance.pick(["told", "told", "missed", "failed", "aborted"]),
        ...(chance.once(0.3) && { tools: [["long", "plain"]] }),
      }),
      host: (chance) => ({
        ...{ together: chance.once(0.5), trims: chance.once(0.5), eager: chance.once(0.6) },
      }),
    },
  },
  {
    name: "odd-models",
    title: "compacts, or says that it did not, whatever the model does that it asks",
    rule: "If it made nothing smaller, `code` tells the host why and `reason` tells people.",
    weather: {
      events: [compactOddly, compactOddly, compact, maintain, crash],
      eventful: 0.4,
      most: 14,
      turn: (chance) => (chance.once(0.5) ? { tools: [["long", "plain"]], answers: "long" } : {}),
    },
  },
  {
    name: "host-compactions",
    title: "goes by a history that its host compacted without asking",
    rule: "A summary of the host's compaction stays, however old, since what it stands for is nowhere else; or the view says that there is more.",
    weather: {
      events: [shrink, shrink, back, crash, again, glance],
      eventful: 0.35,
      most: 14,
      turn: (chance) => (chance.once(0.4) ? { answers: "long" } : {}),
    },
  },
  {
    name: "alike-names",
    title: "keeps sessions apart whose names are alike but for signs and case",
    rule: "No session shows anything of another.",
    weather: {
      events: [crash, begin, fork, again, glance, compact],
      eventful: 0.25,
      most: 16,
      sessions: 4,
      host: (chance) => ({ oddNames: true, atOnce: chance.once(0.3), keys: chance.once(0.7) }),
    },
  },
  {
    name: "same-engine",
    title: "works on after dispose(), and when it is asked for several views at the same time",
    rule: "so the engine must work again afterwards",
    weather: {
      events: [goOn, goOn, looks, looks, crash, note, compact],
      eventful: 0.45,
      most: 12,
      sessions: 2,
      turn: (chance) => ({ ends: chance.pick(["told", "told", "missed", "aborted"]) }),
      host: (chance) => ({ freezes: chance.once(0.5), asksTwice: chance.once(0.5) }),
    },
  },
  {
    name: "compacted-sessions",
    title: "keeps what was compacted in each of several sessions, whatever the others do",
    rule: "No other session's compaction undoes it.",
    weather: {
      events: [compact, compact, crash, glance, dispose, goOn],
      eventful: 0.45,
      most: 18,
      sessions: 2,
      turn: (chance) => (chance.once(0.5) ? { answers: "long" } : {}),
    },
  },
  {
    name: "mixed",
    title: "holds to all of it when a few things happen often that seldom happen together",
    rule: "No session shows anything of another.",
    weather: {
      events: [],
      some: [
        ...[note, again, crash, dispose, look, glance, back, far, shorten, redact, maintain],
        ...[begin, move, fork, forth, restore, rewrite, compact, retell, chat, clock, spawn],
        ...[ended, shrink, goOn, looks, compactOddly, detour],
      ],
      eventful: 0.5,
      most: 18,
      sessions: 2,
      count: 3,
      turn: (chance) => ({
        ends: chance.pick(["told", "told", "told", "missed", "failed", "aborted"]),
        ...(chance.once(0.2) && { tools: [["long", "plain"]], answers: "long" }),
      }),
      host: (chance) => ({
        budget: chance.once(0.25) ? tightly(chance) : null,
        together: chance.once(0.5),
        keys: chance.once(0.8),
        files: chance.once(0.8),
        remakes: chance.once(0.15),
      }),
    },
  },
  {
    name: "detours",
    title: "shows the same as before what was asked once with other room, models, tools or prompts",
    rule: "The same history gives the same messages, after a restart too, so that prompt caches hold.",
    weather: {
      events: [detour, detour, detour, compact, glance, fork],
      eventful: 0.5,
      most: 12,
      sessions: 2,
      host: (chance) => ({
        budget: chance.once(0.35) ? chance.pick([1_200, 2_500]) : null,
        hurries: chance.once(0.3),
        retries: chance.once(0.3),
      }),
    },
  },
  {
    name: "aborts",
    title: "leaves everything as it was when a compaction is aborted, whenever that comes",
    rule: "Fires when the work must stop: a cancelled run, the time bound.",
    weather: {
      events: [abort, abort, abort, compact, crash, maintain],
      eventful: 0.5,
      most: 10,
      turn: (chance) => (chance.once(0.5) ? { tools: [["long", "plain"]], answers: "long" } : {}),
      host: (chance) => ({ files: chance.once(0.5) }),
    },
  },
  {
    name: "forks",
    title: "keeps a copy of a session and its original apart, whichever is compacted or goes on",
    rule: "No session shows anything of another.",
    weather: {
      begins: (chance) => [
        ...[longTurn, longTurn],
        ...(chance.once(0.6) ? [compactFirst(chance, 0)] : []),
        forkFirst(chance, 0),
      ],
      events: [compact, compact, compact, back, crash],
      eventful: 0.55,
      most: 8,
      sessions: 2,
      turn: (chance) => ({ answers: chance.once(0.7) ? "long" : "plain" }),
      host: (chance) => ({ watches: true, files: chance.once(0.7) }),
    },
  },
  {
    name: "crowded-summaries",
    title: "says that there is more where it has no room for the summary of its host's compaction",
    rule: "A summary of the host's compaction stays, however old, since what it stands for is nowhere else; or the view says that there is more.",
    weather: {
      begins: () => [longTurn, shortTurn, longTurn, shortTurn, shrinkFirst],
      events: [shrink, glance, glimpse, glimpse, crash, back],
      eventful: 0.5,
      most: 8,
      turn: (chance) => (chance.once(0.2) ? { answers: "long" } : { answers: "plain", tools: [] }),
      host: (chance) => ({ budget: chance.once(0.5) ? scantily(chance) : null }),
    },
  },
];

export const sessionCases: readonly ConformanceCase[] = [
  ...KINDS.map(
    ({ name, title, rule, weather }, salt): ConformanceCase => ({
      id: `sessions/${name}`,
      group: "sessions",
      title,
      rule,
      run: (context) => explore(context, weather, salt),
    }),
  ),
  {
    id: "sessions/long",
    group: "sessions",
    title: "shows and keeps of a session of many turns what it shows and keeps of a short one",
    rule: "Records one message, whatever its role and content.",
    run: exploreLong,
  },
  {
    id: "sessions/past",
    group: "sessions",
    title:
      "takes in all of a session that was long before there was the engine, or answers why not",
    rule: "Absent: turns from before the engine was selected are seen in `assemble` only.",
    run: explorePast,
  },
  {
    id: "sessions/sizes",
    group: "sessions",
    title:
      "shows and keeps very long output and replies as it does short ones, or says what is cut",
    rule: "A message that is shown is shown as it was said, or it is cut and says so.",
    run: exploreSizes,
  },
  {
    id: "sessions/after-compaction",
    group: "sessions",
    title: "still shows what a compaction left, however many turns came after it",
    rule: "A summary of the host's compaction stays, however old, since what it stands for is nowhere else; or the view says that there is more.",
    run: exploreCompacted,
  },
  {
    id: "sessions/many",
    group: "sessions",
    title: "keeps and shows of each of many sessions what it does of a few",
    rule: "No session shows anything of another.",
    run: exploreMany,
  },
  {
    id: "sessions/kills",
    group: "sessions",
    title:
      "has all that it acknowledged when it is killed at once, if it keeps anything for longer",
    rule: "A turn told again, also after a crash, adds nothing.",
    run: exploreKills,
  },
];
