// Random failures in some sessions: an engine is set aside where it failed, no longer.
import type { ContextEngine } from "@clew/plugin-sdk/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MODEL, memoryTranscript, passThrough, testHost } from "../__fixtures__/host.ts";
import { type FailurePolicy, resolveContextEngine, runTurn } from "../index.ts";

/** What the engine does when it is asked for a view. */
type Conduct = "answers" | "fails" | "shows nothing" | "waits until the run is cancelled";
type Factory = "works" | "fails once" | "is aborted once";
type Happening =
  | { kind: "turn"; session: number; conduct: Conduct; isReplaced: boolean }
  | { kind: "registered again"; factory: Factory }
  | { kind: "given another chance"; session: number | null };

const SESSIONS = 4;
const session = fc.oneof(fc.constant(0), fc.nat({ max: SESSIONS - 1 }));
const turn = fc.record({
  kind: fc.constant("turn" as const),
  session,
  conduct: fc.constantFrom<Conduct>(
    "answers",
    "fails",
    "shows nothing",
    "waits until the run is cancelled",
  ),
  isReplaced: fc.nat({ max: 7 }).map((one) => one === 7),
});
const happenings: fc.Arbitrary<Happening[]> = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: turn },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant("registered again" as const),
        factory: fc.constantFrom<Factory>("works", "fails once", "is aborted once"),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant("given another chance" as const),
        session: fc.option(session),
      }),
    },
  ),
  { maxLength: 20, size: "max" },
);

/** What must be known of the engine, whatever happened. */
interface Expected {
  everywhere: boolean;
  sessions: Set<number>;
  /** Views of the current engine that could not be used, by session. */
  badViews: Map<number, number>;
  /** The next factory's way, while there is no engine. */
  factory: Factory | "has worked";
}

/** One engine in several sessions of one host. */
function openHost(policy: FailurePolicy) {
  const wrong: string[] = [];
  const now = { conduct: "answers" as Conduct, isReplaced: false, abort: new AbortController() };
  let factory: Factory = "works";
  const make = (): ContextEngine => {
    const how = factory;
    factory = "works";
    if (how === "fails once") throw new Error("no engine today");
    if (how === "is aborted once") throw new DOMException("not now", "AbortError");
    let isDisposed = false;
    const alive = (method: string) => {
      if (isDisposed) wrong.push(`${method} was called after dispose`);
    };
    return passThrough({
      info: { id: "test", name: "Test" },
      async assemble({ messages }) {
        alive("assemble");
        if (now.isReplaced) register("works");
        // Whoever is replaced in the middle of a call is not disposed in it.
        await new Promise((resolve) => setImmediate(resolve));
        alive("assemble");
        if (now.conduct === "fails") throw new Error("broken");
        if (now.conduct === "waits until the run is cancelled") {
          now.abort.abort();
          return new Promise(() => {});
        }
        return { messages: now.conduct === "answers" ? messages : [], estimatedTokens: 0 };
      },
      afterTurn: () => alive("afterTurn"),
      dispose() {
        isDisposed = true;
      },
    });
  };
  const { registry } = testHost({ registry: { failurePolicy: () => policy } });
  function register(how: Factory): void {
    factory = how;
    const owner = "plugin:test";
    registry.register({ engineId: "test", owner, allowSameOwnerRefresh: true, factory: make });
  }
  register("works");
  const sessions = Array.from({ length: SESSIONS }, (_, index) => {
    const transcript = memoryTranscript();
    const named = { ...transcript.session, sessionKey: keyOf(index) };
    return testHost({ transcript: { ...transcript, session: named } });
  });
  async function say(index: number, engineId: string) {
    const { ports, state } = sessions[index]!;
    now.abort = new AbortController();
    const engine = await resolveContextEngine({
      registry,
      config: { plugins: { slots: { contextEngine: engineId } } },
      sessionKey: keyOf(index),
    });
    return runTurn({
      ...{ engine, ports, state, model: MODEL, signal: now.abort.signal },
      systemPrompt: [],
      prompt: { content: "hi" },
    });
  }
  return { registry, register, say, wrong, now };
}

const keyOf = (index: number) => `agent:main:session-${index}`;

/** Whether the engine answered to the end, by what it did and what was known of it. */
function expectTurn(
  known: Expected,
  { session, conduct, isReplaced }: Extract<Happening, { kind: "turn" }>,
  policy: FailurePolicy,
): "itself" | "another" | "nobody" {
  if (known.everywhere || known.sessions.has(session)) return "another";
  const { factory } = known;
  known.factory = "has worked";
  if (factory === "is aborted once") known.factory = "works";
  if (factory === "fails once") {
    known.factory = "works";
    setAside(known, null);
  }
  if (factory === "fails once" || factory === "is aborted once") return "another";
  const badViews = (known.badViews.get(session) ?? 0) + 1;
  if (isReplaced) startAnew(known, "works");
  if (conduct === "answers") return "itself";
  if (conduct === "waits until the run is cancelled") return "nobody";
  if (conduct === "shows nothing") {
    if (!isReplaced) known.badViews.set(session, badViews);
    if (badViews < 3) return "itself";
  }
  // What was replaced meanwhile failed for itself.
  if (policy === "quarantine" && !isReplaced) setAside(known, session);
  return "another";
}

function startAnew(known: Expected, factory: Factory): void {
  known.factory = factory;
  known.badViews.clear();
  known.everywhere = false;
  known.sessions.clear();
}

/** Three sessions are no longer a matter of one session's data. */
function setAside(known: Expected, session: number | null): void {
  if (session !== null) known.sessions.add(session);
  known.everywhere = session === null || known.sessions.size >= 3;
  if (known.everywhere) known.sessions.clear();
}

describe("an engine that fails now and then, in some sessions", () => {
  it("is set aside for those it failed in, after three of them everywhere, and no longer", async () => {
    await fc.assert(
      fc.asyncProperty(
        happenings,
        fc.constantFrom<FailurePolicy>("quarantine", "retry-next-turn"),
        async (life, policy) => {
          const { registry, register, say, wrong, now } = openHost(policy);
          const known: Expected = {
            everywhere: false,
            sessions: new Set(),
            badViews: new Map(),
            factory: "works",
          };
          for (let index = 0; index < SESSIONS; index++) await say(index, "legacy");
          for (const happening of life) {
            if (happening.kind === "registered again") {
              register(happening.factory);
              startAnew(known, happening.factory);
            } else if (happening.kind === "given another chance") {
              const { session } = happening;
              registry.quarantine.clear("test", session === null ? undefined : keyOf(session));
              if (session === null) known.everywhere = false;
              if (session === null) known.sessions.clear();
              else known.sessions.delete(session);
            } else {
              Object.assign(now, happening);
              const { report, outcome } = await say(happening.session, "test");
              const { degraded } = report.engine;
              const answered =
                outcome === "aborted" ? "nobody" : degraded === null ? "itself" : "another";
              expect(answered).toBe(expectTurn(known, happening, policy));
            }
            const aside = registry.quarantine.list().map(({ scope }) => scope);
            expect(aside).toEqual(
              known.everywhere
                ? [{ kind: "everywhere" }]
                : [...known.sessions].map((one) => ({ kind: "session", sessionKey: keyOf(one) })),
            );
            expect(wrong).toEqual([]);
          }
        },
      ),
    );
  });
});
