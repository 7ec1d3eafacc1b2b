// Random views of a history with equal texts: each message is sent as what it is.
import { type AgentMessage, messageId } from "@clew/plugin-sdk/core";
import { type TranscriptEntry, textOf, withMessageId } from "@clew/plugin-sdk/transcript";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { callTool, memoryTranscript, passThrough, testHost, tools } from "../__fixtures__/host.ts";
import { messageEntries } from "./__fixtures__/disk.ts";
import { repeated } from "./__fixtures__/events.ts";
import { callIds } from "./__fixtures__/pairing-policy.ts";

/** What an engine makes of one message it was given. */
type Treatment = "given" | "copy" | "no id" | "changed" | "changed, no id" | "left out";

/** Places of entries that have the id of another one. */
const claims = fc.array(fc.nat({ max: 9 }), { maxLength: 2 });

/** Messages of a history, at most. */
const MOST = 24;

interface Past {
  said: string;
  /** Calls of a tool that always says the same. */
  looks: number;
  answer: string;
}

const few = fc.constantFrom("ok", "yes");
const past: fc.Arbitrary<Past[]> = fc.array(
  fc.record({ said: few, looks: fc.nat({ max: 2 }), answer: few }),
  { minLength: 1, maxLength: 4 },
);
const ways: fc.Arbitrary<Treatment[]> = fc.array(
  fc.constantFrom("given", "copy", "no id", "changed", "changed, no id", "left out"),
  { minLength: MOST, maxLength: MOST },
);
/** The oldest are left out, and the others lose their ids. */
const tails: fc.Arbitrary<Treatment[]> = fc
  .nat({ max: 12 })
  .map((count) => Array.from({ length: MOST }, (_, at) => (at < count ? "left out" : "no id")));
const treatments = fc.oneof({ weight: 3, arbitrary: ways }, { weight: 1, arbitrary: tails });

function treated(message: AgentMessage, how: Treatment): AgentMessage[] {
  if (how === "left out") return [];
  if (how === "given") return [message];
  const copy = structuredClone(message);
  if (how.endsWith("no id")) delete copy.__openclaw;
  return [how.startsWith("changed") ? changed(copy) : copy];
}

function changed(message: AgentMessage): AgentMessage {
  if (message.role === "user") return { ...message, content: `${textOf(message)} [short]` };
  if (message.role !== "toolResult") return message;
  return { ...message, content: [{ type: "text", text: `${textOf(message)} [short]` }] };
}

const bare = ({ __openclaw: _host, ...message }: AgentMessage) => message;

/** By what an engine without ids can be understood: calls and results by call, the rest by text. */
function nameOf(message: AgentMessage): string {
  if (message.role === "toolResult") return `result ${message.toolCallId}`;
  return callIds(message).length > 0
    ? `calls ${callIds(message).join()}`
    : `${message.role} ${textOf(message)}`;
}

function tearsCalls(view: readonly AgentMessage[]): boolean {
  const called = view.flatMap(callIds).sort();
  const answered = view.flatMap((message) =>
    message.role === "toolResult" ? [message.toolCallId] : [],
  );
  return called.join() !== answered.sort().join();
}

/** As in a file that others wrote: the entry at each place claims to be what the first one was. */
function claimed(entries: readonly TranscriptEntry[], places: readonly number[]) {
  const first = entries[0]!.id;
  return entries.map((entry, index) =>
    entry.type === "message" && index > 0 && places.includes(index)
      ? { ...entry, message: withMessageId(entry.message, first) }
      : entry,
  );
}

/** Turns answered by the built-in engine, then one whose engine treats them so. */
async function liveAndView(
  turns: readonly Past[],
  how: readonly Treatment[],
  claims: readonly number[],
) {
  const replies = turns.flatMap(({ looks, answer }, turn) => [
    ...Array.from({ length: looks }, (_, index) => callTool("look", {}, `c${turn}.${index}`)),
    answer,
  ]);
  const { say, ports } = testHost({ replies, tools: tools({ look: () => "ok" }) });
  for (const { said } of turns) await say(said);
  const transcript = memoryTranscript(claimed(ports.transcript.entries, claims), "later-");
  const view: AgentMessage[] = [];
  const ids = transcript.branch().map(({ id }) => id);
  const host = testHost({
    transcript,
    engine: passThrough({
      info: { id: "test", name: "Test" },
      assemble({ messages }) {
        view.push(...messages.flatMap((message, index) => treated(message, how[index] ?? "given")));
        return { messages: view, estimatedTokens: 0 };
      },
    }),
  });
  const { report } = await host.say("now");
  const sent = host.ports.model.calls[0]!.messages.slice(0, view.length);
  return { view, sent, items: report.modelCalls[0]!.messages.items, ids, stored: transcript };
}

describe("whatever an engine shows of a history", () => {
  it("is sent as it says it, and the report names the entry each message is", async () => {
    await fc.assert(
      fc.asyncProperty(past, treatments, claims, async (turns, how, places) => {
        const { view, sent, items, ids, stored } = await liveAndView(turns, how, places);
        // The host falls back when nothing is shown, or half of a call.
        if (view.length === 0 || tearsCalls(view)) return;
        expect(sent.map(bare)).toEqual(view.map(bare));
        const messages = new Map(
          messageEntries(stored.branch()).map(({ id, message }) => [id, message]),
        );
        const told = view.map((message, index) => {
          const { source, changed: isChanged = false } = items[index]!;
          const id = source.kind === "entry" ? source.entryId : undefined;
          return { message, id, isChanged, origin: messages.get(id ?? "") };
        });
        for (const { message, id, isChanged, origin } of told) {
          const isShort = JSON.stringify(message).includes("[short]");
          if (messageId(message) !== undefined) expect(id).toBe(messageId(message));
          else if (isShort && message.role === "user") expect(id).toBeUndefined();
          else expect(origin && nameOf(origin)).toBe(nameOf(message));
          if (messageId(message) !== undefined) expect(isChanged).toBe(isShort);
        }
        expect(repeated(told.flatMap(({ id }) => id ?? []))).toEqual([]);
        // Who leaves out the oldest only is understood exactly.
        const kept = how.findIndex((one) => one !== "left out");
        const isTail = how
          .slice(kept)
          .every((one) => one !== "left out" && one !== "changed, no id");
        if (isTail) expect(told.map(({ id }) => id)).toEqual(ids.slice(-view.length));
      }),
    );
  });
});
