// Conformance cases about what an engine must accept.
import type { AgentMessage } from "../../contract/message.ts";
import { headOf, textOf } from "../../transcript/text.ts";
import type { ConformanceCase } from "../case.ts";
import { call, check } from "../engine-call.ts";
import { assistant, FIRST_TIMESTAMP, toolCall, toolResult, user } from "../messages.ts";
import { recordOf } from "../sessions/record.ts";
import { turnOf } from "./observe.ts";

export const ingestCases: readonly ConformanceCase[] = [
  {
    id: "ingest/every-role",
    group: "ingest",
    title: "takes messages of every role, with text, images, errors or nothing in them",
    rule: "Records one message, whatever its role and content.",
    async run(context) {
      const session = context.session();
      const { sessionId, sessionKey } = session.ref;
      const heartbeat = user("HEARTBEAT", { __openclaw: { kind: "heartbeat" } });
      await session.write([...everyRole(), heartbeat]);
      const messages = session.history();
      for (const message of messages.slice(0, -1))
        await call(context.engine, "ingest", { sessionId, sessionKey, message });
      await call(context.engine, "ingest", {
        sessionId,
        sessionKey,
        message: messages.at(-1)!,
        isHeartbeat: true,
      });
    },
  },
  {
    id: "ingest/equal-texts",
    group: "ingest",
    title: "keeps two messages of equal text that were said at different times",
    rule: "equal words said at another time are another message",
    async run(context) {
      const session = context.session();
      const { sessionId, sessionKey } = session.ref;
      const say = async (event: string, timestamp: number) => {
        await session.write([user("yes", { idempotencyKey: event, timestamp })]);
        const message = session.history().at(-1)!;
        return call(context.engine, "ingest", { sessionId, sessionKey, message });
      };
      const first = await say("first", FIRST_TIMESTAMP);
      const second = await say("second", FIRST_TIMESTAMP + 60_000);
      check(
        first?.ingested !== true || second?.ingested === true,
        'ingest() took a second "yes", a minute later, for the first one.',
      );
    },
  },
  {
    id: "ingest/told-whole",
    group: "ingest",
    title: "keeps a tool result as it was told, though it was seen cut before",
    rule: "Records the new messages of a turn",
    async run(context) {
      const turn = turnOf("a", 1, { tools: 1, toolResultChars: 2_000 });
      const kept = async (name: string, isSeenCut: boolean) => {
        const session = context.session(name);
        const { sessionId, sessionKey } = session.ref;
        await session.write(turn);
        // As a host may ask within a turn that gives its model no more of a result than that.
        const cut = session.history().slice(0, -1).map(cutResult);
        if (isSeenCut) await session.assemble(context.engine, { messages: cut });
        await session.tell(context.engine, 0);
        const record = await recordOf(context.engine, { sessionId, sessionKey });
        return record.map((message) => (message.role === "toolResult" ? textOf(message) : ""));
      };
      const whole = textOf(turn.find(({ role }) => role === "toolResult")!);
      const keepsWhole = (await kept("plain", false)).includes(whole);
      check(
        !keepsWhole || (await kept("cut", true)).includes(whole),
        "Told of a turn of which it had seen a tool result cut, it has not the whole of it, as it has where it saw nothing.",
      );
    },
  },
];

function cutResult(message: AgentMessage): AgentMessage {
  if (message.role !== "toolResult") return message;
  const text = `${headOf(textOf(message), 200)}\n[cut: 1,800 more characters]`;
  return { ...message, content: [{ type: "text", text }] };
}

function everyRole(): AgentMessage[] {
  const call = toolCall("screenshot");
  const image = { type: "image" as const, data: "iVBORw0KGgo=", mimeType: "image/png" };
  return [
    user("text"),
    user([{ type: "text", text: "look" }, image]),
    user(""),
    assistant([
      { type: "thinking", thinking: "hm", thinkingSignature: "s" },
      { type: "text", text: "a screenshot" },
      call,
    ]),
    toolResult(call, [image], { isError: true, details: { code: 1 } }),
    assistant([], { stopReason: "aborted", errorMessage: "stopped" }),
    { role: "custom", customType: "note", content: "a note", timestamp: FIRST_TIMESTAMP },
    { role: "bashExecution", command: "ls", output: "", exitCode: 0, timestamp: FIRST_TIMESTAMP },
    { role: "compactionSummary", summary: "before", timestamp: FIRST_TIMESTAMP },
    { role: "branchSummary", summary: "aside", timestamp: FIRST_TIMESTAMP },
  ];
}
