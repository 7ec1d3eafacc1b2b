import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryHome } from "../testing/home.ts";
import { startPluginGateway, writePlugin } from "../testing/plugins.ts";

/** Notes what it is shown in `notes`; once, behind the second turn, rewrites what came first. */
const noting = (notes: string, durable: boolean) => `
import { appendFileSync, readFileSync } from "node:fs";
const textOf = ({ content }) => typeof content === "string" ? content : content.map(({ text }) => text).join("");
const note = (method, messages) => appendFileSync(${JSON.stringify(notes)}, messages
  .map((message) => JSON.stringify({ method, role: message.role, id: message.__openclaw?.id, text: textOf(message) }) + "\\n")
  .join(""));
const stored = (file) => readFileSync(file, "utf8").trim().split("\\n").map((line) => JSON.parse(line))
  .filter(({ type }) => type === "message");
export default { register(api) { api.registerContextEngine("noting", () => ({
  info: {
    id: "noting",
    name: "Noting",
    ${durable ? 'transcriptSemantics: { currentTurnFence: "before-current-turn-entry-v1", turnAdvancementIdempotency: "atomic-idempotent-v1" },' : ""}
  },
  bootstrap: async ({ sessionFile }) => {
    note("bootstrap", stored(sessionFile).map(({ message }) => message));
    return { bootstrapped: true };
  },
  ingest: async ({ message }) => { note("ingest", [message]); return { ingested: true }; },
  ${durable ? 'commitTurn: async ({ messages }) => { note("commitTurn", messages); return { status: "committed" }; },' : 'afterTurn: async ({ messages }) => note("afterTurn", messages),'}
  assemble: async ({ messages }) => {
    note("assemble", messages);
    return { messages: JSON.parse(JSON.stringify(messages)), estimatedTokens: 0 };
  },
  maintain: async ({ sessionFile, runtimeContext }) => {
    const entries = stored(sessionFile);
    const isDone = entries.some(({ message }) => textOf(message) === "first, rewritten");
    if (entries.length < 4 || isDone || !runtimeContext?.rewriteTranscriptEntries)
      return { changed: false, bytesFreed: 0, rewrittenEntries: 0 };
    const message = { role: "user", content: "first, rewritten", __openclaw: { id: "of my own" } };
    return runtimeContext.rewriteTranscriptEntries({ replacements: [{ entryId: entries[0].id, message }] });
  },
  compact: async () => ({ ok: true, compacted: false, reason: "nothing to do" }),
})); } };
`;

interface Seen {
  method: string;
  role: string;
  id?: string;
  text: string;
}

describe.each([
  ["eager", false],
  ["durable", true],
])("an engine of the %s lifecycle", (_name, durable) => {
  it("sees each message under one id, in every call, over a rewrite and a restart", async () => {
    const home = await temporaryHome();
    const notes = join(home, "notes.jsonl");
    const code = noting(notes, durable);
    const plugin = writePlugin(join(home, "sources/noting"), { id: "noting", code });
    const config = {
      plugins: { load: { paths: [plugin] }, slots: { contextEngine: "noting" } },
    };
    const before = await startPluginGateway(config, home);
    for (const text of ["first", "second", "third"])
      expect((await before.say(text)).outcome).toBe("completed");
    await before.stop();
    const { say, gateway } = await startPluginGateway(config, home);
    const { report } = await say("fourth");
    expect(report).toMatchObject({ engine: { ran: "noting", degraded: null } });

    const seen = readFileSync(notes, "utf8")
      .trim()
      .split("\n")
      .map((line): Seen => JSON.parse(line));
    expect(new Set(seen.map(({ method }) => method))).toEqual(
      new Set(["bootstrap", "assemble", durable ? "commitTurn" : "afterTurn"]),
    );
    const said = ["first", "second", "third", "fourth"];
    const idsOf = (text: string) => [
      ...new Set(seen.filter((each) => each.text === text).map(({ id }) => id)),
    ];
    expect(said.map(idsOf).map((ids) => ids.length)).toEqual([1, 1, 1, 1]);
    expect(idsOf("first, rewritten")).toEqual(idsOf("first"));
    // What the person said, and the model's four replies.
    expect(new Set(seen.map(({ id }) => id)).size).toBe(8);
    const branch = (await gateway.session("main"))!.branch;
    const stored = branch.flatMap((entry) =>
      entry.type === "message" ? [entry.message.__openclaw?.id] : [],
    );
    expect(new Set(stored)).toEqual(new Set(seen.map(({ id }) => id)));
  });
});
