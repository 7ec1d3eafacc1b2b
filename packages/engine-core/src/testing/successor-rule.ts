// Checks that a session moves to the transcript its engine began with all that engines know.
import { type AssistantMessage, type ContextEngine, messageId } from "@clew/plugin-sdk/core";
import type { ModelRef, StreamEvent } from "@clew/plugin-sdk/host";
import type { DeliveryRecord } from "../delivery-port.ts";
import { createEngineRegistry } from "../engine/registry.ts";
import { resolveContextEngine } from "../engine/resolve.ts";
import type { HostPorts, ModelPort } from "../ports.ts";
import { createSessionState } from "../session/session-state.ts";
import type { TranscriptPort } from "../transcript-port.ts";
import { runTurn } from "../turn/run-turn.ts";
import { check, checkParents, idOf, whenOf } from "./checks.ts";
import type {
  BegunSuccessor,
  OpenedTranscript,
  TranscriptStoreUnderTest,
} from "./store-under-test.ts";

const MODEL: ModelRef = {
  ...{ provider: "test", api: "test", id: "model" },
  ...{ contextWindow: 100_000, maxOutputTokens: 1_000 },
};

/** One turn is taken, one refused until it is parked, and the last one moves the session. */
export async function checkSuccessor(store: TranscriptStoreUnderTest): Promise<void> {
  const transcript = await store.open();
  const successor = await store.beginSuccessor?.();
  if (successor === undefined || transcript.deliveries === undefined) return transcript.close?.();
  const host = hostOf(transcript, successor);
  for (const text of ["one", "poison", "two", "three", "four"]) await host.say(text);
  const before = await lookAt(transcript);
  check(before.a?.refused.size === 1, "a turn that was refused is not on record.");
  host.overflowOnce();
  const moved = await host.say("five");
  check(moved !== undefined, "adopt() did not move the session.");

  const old = await lookAt(transcript);
  check(
    old.ids.slice(0, before.ids.length).join() === before.ids.join(),
    "the old branch changed.",
  );
  check(old.ids.length === before.ids.length + 1, "the old transcript grew in the move.");
  check(same(old.a, before.a), "the old ledger changed.");
  let now = moved;
  for (const again of [false, true]) {
    const when = whenOf(again);
    const { ids, a } = await lookAt(now);
    check(now.session.sessionId === successor.sessionId, `${when}: it is another transcript.`);
    check(new Set(ids).size === ids.length, `${when}: a message is there twice.`);
    const expected = [...old.ids.slice(2), ids.at(-1)];
    check(ids.join() === expected.join(), `${when}: messages are missing, or have other ids.`);
    check(a?.root === before.a.root, `${when}: the engine's root is another.`);
    const taken = ids.filter((id) => a.acknowledged.has(id));
    check(taken.length === ids.length - 2, `${when}: what was acknowledged is something else.`);
    check(
      same({ ...a, acknowledged: new Set() }, { ...before.a, acknowledged: new Set() }),
      `${when}: a refusal is missing, or counted anew.`,
    );
    checkParents((await now.read({ after: null })) ?? []);
    if (now.close === undefined || transcript.close === undefined) return;
    if (!again) {
      await now.close();
      await transcript.close();
      now = await store.open();
    }
  }
  check(new Set(host.told).size === host.told.length, "a message was handed over twice.");
  await now.close?.();
}

async function lookAt(transcript: TranscriptPort) {
  const ids = ((await transcript.read({ after: null })) ?? []).map((entry) => idOf(entry) ?? "");
  return { ids, a: structuredClone(transcript.deliveries?.read("a")) };
}

/** Sets and maps say nothing as JSON. */
const same = (one: DeliveryRecord | undefined, other: DeliveryRecord | undefined) =>
  plain(one) === plain(other);
const plain = (record: DeliveryRecord | undefined) =>
  JSON.stringify(
    record && [record.root, [...record.acknowledged].sort(), [...record.refused].sort()],
  );

/** A host of one session whose engine refuses "poison" and keeps all but the first turn. */
function hostOf(transcript: TranscriptPort, successor: BegunSuccessor) {
  const told: string[] = [];
  let overflows = false;
  let next = 0;
  const ports: HostPorts = {
    transcript,
    model: answering(() => {
      const is = overflows;
      overflows = false;
      return is;
    }),
    successors: {
      adopt: async (move) => {
        moved = await successor.adopt({
          ...move,
          async prepare(begun) {
            await copyFrom(transcript, begun);
            await move.prepare(begun);
          },
        });
        return moved;
      },
    },
    log: { info() {}, warn() {}, error() {} },
    clock: { now: () => Date.now(), monotonic: () => performance.now() },
    ids: { next: () => `id-${next++}`, hash: (text) => text },
  };
  const registry = createEngineRegistry({
    ...{ fallback: () => engineOf([], successor), log: ports.log, clock: ports.clock },
    failurePolicy: () => "retry-next-turn",
  });
  registry.register({ engineId: "a", owner: "test", factory: () => engineOf(told, successor) });
  const config = { plugins: { slots: { contextEngine: "a" } } };
  const state = createSessionState();
  let moved: OpenedTranscript | undefined;
  return {
    told,
    overflowOnce: () => {
      overflows = true;
    },
    async say(content: string) {
      const engine = await resolveContextEngine({ registry, config });
      await runTurn({ engine, ports, state, model: MODEL, systemPrompt: [], prompt: { content } });
      return moved;
    },
  };
}

function engineOf(told: string[], { sessionId, sessionFile }: BegunSuccessor): ContextEngine {
  return {
    info: { id: "a", name: "A", ownsCompaction: true },
    ingest: () => ({ ingested: false }),
    afterTurn({ messages, prePromptMessageCount }) {
      const fresh = messages.slice(prePromptMessageCount);
      if (fresh.some((each) => each.role === "user" && each.content === "poison"))
        throw new Error("poison");
      told.push(...fresh.map((each) => messageId(each)!));
    },
    assemble: ({ messages }) => ({ messages, estimatedTokens: 0 }),
    compact: () => ({
      ok: true,
      compacted: true,
      result: {
        ...{ tokensBefore: 2, tokensAfter: 1, sessionId },
        ...(sessionFile !== undefined && { sessionFile }),
      },
    }),
  };
}

/** What an engine keeps: everything but the first turn and the one that runs. */
async function copyFrom(transcript: TranscriptPort, successor: TranscriptPort): Promise<void> {
  if ((await successor.read({ tail: 1 }))?.length !== 0) return;
  const branch = (await transcript.read({ after: null })) ?? [];
  const kept = branch.slice(2, -1).flatMap((entry) => (entry.type === "message" ? [entry] : []));
  await successor.append(kept.map(({ message }) => ({ type: "message", message })));
}

function answering(overflows: () => boolean): ModelPort {
  const message: AssistantMessage = {
    ...{ role: "assistant", content: [{ type: "text", text: "ok" }], stopReason: "stop" },
  };
  const partial = { ...message, content: [], stopReason: "error" as const };
  const error = { kind: "overflow" as const, message: "too long" };
  async function* stream(): AsyncIterable<StreamEvent> {
    if (overflows()) yield { type: "error", error, partial };
    else yield { type: "done", message };
  }
  return { stream, complete: async () => ({ ok: true, message }) };
}
