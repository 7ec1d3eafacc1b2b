import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { methods } from "@agentclientprotocol/sdk";
import { describe, expect, it } from "vitest";
import { type EditorOptions, startEditor } from "../testing/editor.ts";
import { temporaryHome } from "../testing/home.ts";
import { obedientModel, run } from "../testing/obedient-model.ts";

const { session } = methods.agent;

/** A home with a model that does what it is told, and a project beside it. */
async function world(settings: Record<string, unknown> = {}) {
  const home = await temporaryHome();
  const project = await temporaryHome();
  const { config, server } = await obedientModel();
  const whole = { ...config, ...settings, gateway: { port: 1 } };
  await writeFile(join(home, "clew.json"), JSON.stringify(whole));
  await writeFile(join(project, "notes.txt"), "one\ntwo\n");
  return { home, project, server };
}

async function begin(given: Awaited<ReturnType<typeof world>>, options: EditorOptions = {}) {
  const editor = await startEditor(given.home, options);
  const opened = await editor.agent.request(session.new, { cwd: given.project, mcpServers: [] });
  const { sessionId } = opened;
  const prompt = (text: string) =>
    editor.agent.request(session.prompt, { sessionId, prompt: [{ type: "text", text }] });
  return { editor, opened, sessionId, prompt };
}

describe("clew acp", () => {
  it("answers a prompt in the editor's folder, asks before it writes, and shows the change", async () => {
    const given = await world();
    const { editor, prompt, sessionId, opened } = await begin(given);
    expect(opened.modes?.currentModeId).toBe("ask");
    expect(await prompt("hello")).toEqual({ stopReason: "end_turn" });
    expect(editor.texts("agent_message_chunk")).toBe("heard: hello");
    const asked = run("edit_file", { path: "notes.txt", old_text: "one", new_text: "ONE" });
    expect(await prompt(asked)).toEqual({ stopReason: "end_turn" });
    expect(await readFile(join(given.project, "notes.txt"), "utf8")).toBe("ONE\ntwo\n");
    const path = join(given.project, "notes.txt");
    const diff = { type: "diff", path, oldText: "one", newText: "ONE" };
    expect(editor.permissions).toMatchObject([
      {
        sessionId,
        toolCall: { title: "Edit notes.txt", kind: "edit", content: [diff], locations: [{ path }] },
        options: [{ optionId: "once" }, { optionId: "session" }, { optionId: "no" }],
      },
    ]);
    const told = editor.updates.filter(({ sessionUpdate }) => sessionUpdate.startsWith("tool_"));
    expect(told).toMatchObject([
      { sessionUpdate: "tool_call", status: "pending", content: [diff] },
      { sessionUpdate: "tool_call_update", status: "in_progress" },
      { sessionUpdate: "tool_call_update", status: "completed" },
    ]);
    expect(editor.updates.some(({ sessionUpdate }) => sessionUpdate === "usage_update")).toBe(true);
    expect(await editor.leave()).toBe(0);
  });
});
