import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createOpenAIEmulator } from "@clew/providers/testing";
import fc from "fast-check";
import { expect, it } from "vitest";
import { emulatedModel } from "../testing/gateway.ts";
import { temporaryHome } from "../testing/home.ts";
import { startServedGateway, writePlugin } from "../testing/plugins.ts";
import { CallPageSchema } from "./shapes/calls.ts";
import { EntryPageSchema, type EntryRow } from "./shapes/entries.ts";
import { type RebuiltRequest, RebuiltRequestSchema } from "./shapes/one-call.ts";

/** Does to each reply and result what is said of its number: leave it out, cut it, or blank it. */
const carelessCode = (fates: readonly string[]) => `
const fates = ${JSON.stringify(fates)};
const cut = (message, to) => ({ ...message, content: [{ type: "text", text: to }] });
const textIn = ({ content }) => typeof content === "string" ? content : (content[0]?.text ?? "");
export default { register(api) { api.registerContextEngine("careless", () => ({
  info: { id: "careless", name: "Careless", version: "1" },
  ingest: () => ({ ingested: true }),
  assemble({ messages }) {
    const groups = [];
    for (const message of messages)
      if (message.role === "toolResult" && groups.length > 0) groups.at(-1).push(message);
      else groups.push([message]);
    const shown = groups.flatMap((group, at) => {
      const fate = at >= groups.length - 1 ? "show" : fates[at % fates.length];
      if (fate === "drop" && group[0].role === "assistant") return [];
      return group.map((message) => message.role === "toolResult" && fate === "cut"
        ? cut(message, textIn(message).slice(0, 60))
        : message.role === "toolResult" && fate === "blank" ? cut(message, "[cleared]") : message);
    });
    return { messages: shown, estimatedTokens: 0 };
  },
  compact: () => ({ ok: true, compacted: false, reason: "nothing to do" }),
})); } };
`;

const textIn = (content: unknown): string =>
  typeof content === "string"
    ? content
    : (content as { text?: string }[]).map(({ text = "" }) => text).join("\n");

/** Who cut a result is the engine, whatever a policy made of its ids. */
function expectTruth(entry: EntryRow, request: RebuiltRequest): void {
  const { role, fate, marks, number } = entry;
  const told = `call ${request.id}: entry ${number} is ${fate.kind}`;
  if (role === "toolResult") {
    const cut = marks.filter(({ kind }) => kind === "shortened");
    for (const mark of cut) expect(mark.rule).toBe('engine "careless"');
    return;
  }
  const shown = `call ${request.id}: entry ${number} is shown`;
  if (isSent(entry, request)) expect(told).toBe(shown);
  else expect(told).not.toBe(shown);
}

/** Whether what begins the entry stands in a message of the request. */
function isSent({ preview }: EntryRow, { messages }: RebuiltRequest): boolean {
  const mark = /«\w+»/.exec(preview)?.[0] ?? "«none»";
  return messages.some((message) => {
    const { role, content } = message as { role: string; content?: unknown };
    return role !== "compactionSummary" && textIn(content ?? "").includes(mark);
  });
}

/** A model that reads files where it is told to, and numbers what it says. */
async function numberingModel() {
  let replies = 0;
  const server = await createOpenAIEmulator({
    answers: ({ body }) => {
      const { messages } = body as { messages: { role: string; content: unknown }[] };
      const newest = messages.at(-1)!;
      const text = `«r${++replies}» ${"words ".repeat(20)}`;
      const reads = newest.role === "user" && textIn(newest.content).includes("READ");
      const call = { name: "read", arguments: { path: "tide.txt" } };
      return reads ? { text, toolCalls: [call, call] } : { text };
    },
  });
  return server;
}

const OPERATIONS = [
  ...["say", "say", "say", "say", "read", "read", "read"],
  ...["/compact", "/compact undo", "/reset"],
];

it("an entry is told to be shown exactly where the proven request holds what it says", async () => {
  const server = await numberingModel();
  try {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom("show", "drop", "cut", "blank"), { minLength: 3, maxLength: 7 }),
        fc.array(fc.constantFrom(...OPERATIONS), { minLength: 5, maxLength: 10 }),
        async (fates, operations) => {
          const home = await temporaryHome();
          const folder = writePlugin(join(home, "careless"), {
            id: "careless",
            manifest: { kind: "context-engine" },
            code: carelessCode(fates),
          });
          const { agents, models } = emulatedModel(server.baseUrl, { contextWindow: 16_000 });
          await mkdir(join(home, "agents/main/workspace"), { recursive: true });
          await writeFile(join(home, "agents/main/workspace/tide.txt"), "high tide ".repeat(40));
          const plugins = {
            load: { paths: [folder] },
            entries: { careless: { enabled: true } },
            slots: { contextEngine: "careless" },
          };
          const { get, say, leave } = await startServedGateway({ agents, models, plugins }, home);
          for (const [at, operation] of operations.entries())
            await say(
              operation.startsWith("/")
                ? operation
                : `«u${at}» ${operation === "read" ? "READ" : "tell"} ${"more ".repeat(100)}`,
            );
          const path = "/api/sessions/main";
          const { calls } = CallPageSchema.parse(await get(`${path}/calls?limit=1000`));
          for (const { id, fates: counts } of calls) {
            const request = RebuiltRequestSchema.parse(await get(`${path}/calls/${id}/request`));
            expect(request).toMatchObject({ isSame: true, rebuiltHash: request.requestHash });
            const page = EntryPageSchema.parse(await get(`${path}/entries?call=${id}&limit=1000`));
            expect(page.fates).toEqual(counts);
            for (const entry of page.entries) expectTruth(entry, request);
          }
          await leave();
        },
      ),
      { numRuns: fc.readConfigureGlobal().numRuns! / 10 },
    );
  } finally {
    await server.close();
  }
});
