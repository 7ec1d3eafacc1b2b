// Checks that a store of transcripts keeps what a turn relies on.
import type { BranchPart } from "../transcript-port.ts";
import {
  check,
  checkChain,
  checkLate,
  checkParents,
  idOf,
  refusedWith,
  said,
  says,
  there,
  whenOf,
} from "./checks.ts";
import type { TranscriptStoreUnderTest } from "./store-under-test.ts";
import { checkSuccessor } from "./successor-rule.ts";

/** Which store to test, and with which runner. */
export interface TestTranscriptStoreOptions {
  /**
   * `test`, `it` or the like of any runner: called once per rule, at once, with a name and a
   * function.
   */
  test: (name: string, run: () => Promise<void>) => unknown;
  /** Makes an empty store; called once per rule. */
  create: () => Promise<TranscriptStoreUnderTest> | TranscriptStoreUnderTest;
}

/**
 * Registers one test per rule; a failing one throws one sentence. What a store does not offer
 * (rewrites, a ledger, steps in one, successors, closing, a second process) is not asked of it.
 * @example
 * ```ts
 * import { testTranscriptStore } from "@clew/engine-core/testing";
 *
 * const rules: string[] = [];
 * testTranscriptStore({
 *   test: (name) => rules.push(name), // `it` of your test runner.
 *   create: () => ({ open: () => Promise.reject(new Error("open your store here")) }),
 * });
 * console.log(rules[1]);
 * ```
 *
 * ```text
 * exists from the first append on
 * ```
 */
export function testTranscriptStore({ test, create }: TestTranscriptStoreOptions): void {
  for (const [name, run] of Object.entries(RULES)) test(name, async () => run(await create()));
}

type Rule = (store: TranscriptStoreUnderTest) => Promise<void>;

const RULES: Readonly<Record<string, Rule>> = {
  "appends in order, each entry after the one before, under ids of their own": async (store) => {
    const transcript = await store.open();
    const first = await transcript.append([said("one"), said("two")]);
    const then = await transcript.append([said("three")]);
    check(says(first, "one two") && says(then, "three"), "append() gave other entries.");
    await checkChain(transcript, "one two three");
    await transcript.close?.();
  },

  "exists from the first append on": async (store) => {
    const transcript = await store.open();
    check(!transcript.exists(), "exists() was true before anything was stored.");
    await transcript.append([said("one")]);
    check(transcript.exists(), "exists() was false after an append.");
    await transcript.close?.();
  },

  "gives a message its entry's id and leaves the id that one has": async (store) => {
    const transcript = await store.open();
    const [fresh] = await transcript.append([said("one")]);
    check(idOf(fresh) === fresh?.id, "a message without an id did not get its entry's.");
    const [again] = await transcript.append([said("two", "elsewhere")]);
    check(idOf(again) === "elsewhere", "a message with an id lost it.");
    check(again?.id !== "elsewhere", "an entry took the id of its message.");
    await transcript.close?.();
  },

  "answers what follows an entry, the newest ones, or everything": async (store) => {
    const transcript = await store.open();
    const [one, two, three] = await transcript.append(
      ["one", "two", "three"].map((text) => said(text)),
    );
    const reads = async (part: BranchPart, texts: string) =>
      says((await transcript.read(part)) ?? [], texts);
    check(await reads({ after: null }, "one two three"), "after null is not the whole branch.");
    check(await reads({ after: one!.id }, "two three"), "after the first is not the rest.");
    check(await reads({ after: three!.id }, ""), "something followed the newest entry.");
    check(await reads({ tail: 2 }, "two three"), "a tail of 2 is not the newest two.");
    check(await reads({ tail: 9 }, "one two three"), "a long tail is not everything.");
    check(await reads({ tail: 0 }, ""), "a tail of 0 is not nothing.");
    const unknown = await transcript.read({ after: `${two!.id}-unknown` });
    check(unknown === null, "an entry that is not on the branch was not answered with null.");
    await transcript.close?.();
  },

  "gives the same entries at every read, in lists that do not change": async (store) => {
    const transcript = await store.open();
    const [one] = await transcript.append([said("one")]);
    const before = await transcript.read({ after: null });
    await transcript.append([said("two")]);
    const after = await transcript.read({ after: null });
    check(before?.length === 1, "a list that was handed out grew.");
    check(before[0] === one && after?.[0] === one, "an entry was another object when read again.");
    await transcript.close?.();
  },

  "says of an entry that it reads late what its message says": async (store) => {
    const transcript = await store.open();
    const note = { role: "custom" as const, customType: "note", content: "noted" };
    await transcript.append([said("one"), said("two", "two"), { type: "message", message: note }]);
    await transcript.close?.();
    const again = transcript.close === undefined ? transcript : await store.open();
    const branch = (await again.read({ after: null })) ?? [];
    check(branch.length === 3, "an entry was missing.");
    for (const entry of branch) checkLate(entry);
    await again.close?.();
  },

  "keeps the order of appends that were not waited for": async (store) => {
    const transcript = await store.open();
    const texts = Array.from({ length: 20 }, (_, index) => `m${index}`);
    await Promise.all(texts.map((text) => transcript.append([said(text)])));
    await checkChain(transcript, texts.join(" "));
    await transcript.close?.();
  },

  "rewrites by appending the suffix again, under the same message ids": async (store) => {
    const transcript = await store.open();
    const [one, two, three] = await transcript.append(
      ["one", "two", "three"].map((text) => said(text)),
    );
    const { changed, reason, remapped } = await transcript.rewrite({
      replacements: [{ entryId: two!.id, message: { role: "user", content: "TWO" } }],
    });
    if (changed) {
      await checkChain(transcript, "one TWO three");
      const after = (await transcript.read({ after: one!.id })) ?? [];
      check(
        after.map(idOf).join() === [two, three].map(idOf).join(),
        "a message got another id in a rewrite.",
      );
      check(
        remapped?.get(two!.id) === after[0]?.id && remapped?.get(three!.id) === after[1]?.id,
        "remapped does not give the new id of each entry that was appended again.",
      );
      check(
        (await transcript.read({ after: three!.id })) === null,
        "an entry of the branch that was left is still answered.",
      );
    } else check((reason ?? "") !== "", "nothing was rewritten, and no reason was given.");
    await transcript.close?.();
  },

  "is opened by one writer at a time, and refuses what comes after its end": async (store) => {
    const transcript = await store.open();
    if (transcript.close === undefined) return;
    await transcript.append([said("one")]);
    await refusedWith("SESSION_LOCKED", "a second open", () => store.open());
    await transcript.close();
    await refusedWith("SESSION_CLOSED", "an append after the end", () =>
      transcript.append([said("x")]),
    );
    const again = await store.open();
    await checkChain(again, "one");
    await again.append([said("two")]);
    await checkChain(again, "one two");
    await again.close?.();
  },

  "keeps what each engine acknowledged, also after a rewrite and another open": async (store) => {
    let transcript = await store.open();
    if (transcript.deliveries === undefined) return transcript.close?.();
    const [one, two] = await transcript.append([said("one"), said("two")]);
    const { deliveries } = transcript;
    check(deliveries.read("a") === undefined, "an engine was known before it was told anything.");
    await deliveries.save("a", { kind: "seen", root: "root", ids: [one!.id] });
    await deliveries.save("a", { kind: "refused", turnId: two!.id, reason: "busy", version: "1" });
    const last = { kind: "refused", turnId: two!.id, reason: "full", version: "1" } as const;
    await deliveries.save("a", last);
    await deliveries.save("b", { kind: "seen", root: "other", ids: [] });
    await deliveries.save("b", { kind: "acknowledged", ids: [two!.id] });
    await transcript.rewrite({
      replacements: [{ entryId: one!.id, message: { role: "user", content: "ONE" } }],
    });
    for (const when of ["at once", "after another open"]) {
      const kept = transcript.deliveries!;
      const [a, b] = [kept.read("a"), kept.read("b")];
      check(kept.engines().toSorted().join() === "a,b", `${when}: other engines are named.`);
      check(a?.root === "root" && b?.root === "other", `${when}: a root is another.`);
      check([...a.acknowledged].join() === one!.id, `${when}: what "a" took is something else.`);
      check([...b.acknowledged].join() === two!.id, `${when}: what "b" took is something else.`);
      const refusal = a.refused.get(two!.id);
      check(
        refusal?.attempts === 2 && refusal.version === last.version,
        `${when}: a refusal is not counted, or of another version.`,
      );
      if (transcript.close === undefined) return;
      await transcript.close();
      transcript = await store.open();
    }
    await transcript.close?.();
  },

  "shows the entries and the acknowledgements of a step together": async (store) => {
    let transcript = await store.open();
    const { appendStep } = transcript;
    if (appendStep === undefined || transcript.deliveries === undefined)
      return transcript.close?.();
    const seen = { kind: "seen", root: "root", ids: ["m1"] } as const;
    const [one] = await transcript.appendStep!({
      entries: [said("one", "m1")],
      deliveries: [{ engineId: "a", change: seen }],
      report: null,
    });
    check(idOf(one) === "m1", "appendStep() gave other entries.");
    const refused = { kind: "refused", turnId: "m2", reason: "busy", version: null } as const;
    const none = await transcript.appendStep!({
      entries: [],
      deliveries: [refused, refused].map((change) => ({ engineId: "a", change })),
      report: null,
    });
    check(none.length === 0, "a step without entries gave some.");
    for (const again of [false, true]) {
      const when = whenOf(again);
      await checkChain(transcript, "one");
      const a = transcript.deliveries?.read("a");
      check(a?.acknowledged.has("m1") === true, `${when}: what was acknowledged is not there.`);
      check(a.refused.get("m2")?.attempts === 2, `${when}: refusals are not counted.`);
      if (transcript.close === undefined) return;
      await transcript.close();
      if (!again) transcript = await store.open();
    }
  },

  "keeps nothing of a step that it could not store whole": async (store) => {
    let transcript = await store.open();
    if (transcript.appendStep === undefined || transcript.deliveries === undefined)
      return transcript.close?.();
    await transcript.append([said("one")]);
    const unwritable = 1n as unknown as string;
    const attempt = (id: string, entry: unknown, reason: string) =>
      transcript.appendStep!({
        entries: [said(id, id), { type: "custom", customType: "c", data: entry }],
        deliveries: [
          { engineId: "a", change: { kind: "seen", root: "root", ids: [id] } },
          { engineId: "a", change: { kind: "refused", turnId: id, reason, version: null } },
        ],
        report: null,
      }).then(
        () => true,
        () => false,
      );
    const stored = {
      "bad entry": await attempt("bad entry", unwritable, "busy"),
      "bad change": await attempt("bad change", null, unwritable),
      good: await attempt("good", null, "busy"),
    };
    check(stored.good, "a step after one that failed was not stored.");
    for (const again of [false, true]) {
      const when = whenOf(again);
      const branch = (await transcript.read({ after: null })) ?? [];
      const acknowledged = transcript.deliveries?.read("a")?.acknowledged;
      for (const [id, isStored] of Object.entries(stored)) {
        const isThere = branch.some((entry) => idOf(entry) === id);
        check(isThere === isStored, `${when}: the entries of "${id}" are ${there(isThere)}.`);
        const isKnown = acknowledged?.has(id) === true;
        check(isKnown === isStored, `${when}: the changes of "${id}" are ${there(isKnown)}.`);
      }
      checkParents(branch);
      if (transcript.close === undefined) return;
      await transcript.close();
      if (!again) transcript = await store.open();
    }
    await refusedWith("SESSION_CLOSED", "a step after the end", () =>
      transcript.appendStep!({ entries: [said("x")], deliveries: [], report: null }),
    );
  },

  "stores a step whole or not at all when its process is killed": async (store) => {
    const stored = await store.killStepWriter?.();
    if (stored === undefined) return;
    check(stored > 0, "the writer was killed before anything was stored.");
    const transcript = await store.open();
    const branch = (await transcript.read({ after: null })) ?? [];
    check(branch.length >= stored, `${stored} steps were stored, and ${branch.length} are there.`);
    const acknowledged = transcript.deliveries?.read("a")?.acknowledged ?? new Set();
    const ids = branch.map((entry) => idOf(entry) ?? entry.id);
    check(
      ids.length === acknowledged.size && ids.every((id) => acknowledged.has(id)),
      `${ids.length} messages are there, and ${acknowledged.size} are acknowledged.`,
    );
    checkParents(branch);
    await transcript.close?.();
  },

  "carries what engines know to the successor an engine began, and leaves the old one as it was":
    checkSuccessor,

  "loses nothing that it acknowledged when its process is killed": async (store) => {
    const acknowledged = await store.killWriter?.();
    if (acknowledged === undefined) return;
    check(acknowledged > 0, "the writer was killed before anything was stored.");
    const transcript = await store.open();
    const branch = (await transcript.read({ after: null })) ?? [];
    check(
      branch.length >= acknowledged,
      `${acknowledged} messages were acknowledged, and ${branch.length} are there.`,
    );
    await transcript.append([said("after")]);
    checkParents((await transcript.read({ after: null })) ?? []);
    await transcript.close?.();
  },
};
