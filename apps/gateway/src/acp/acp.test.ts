import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  type ContentBlock,
  type McpServer,
  methods,
  type RequestError,
  type SessionUpdate,
  type SetSessionConfigOptionRequest,
  type SetSessionConfigOptionResponse,
} from "@agentclientprotocol/sdk";
import { describe, expect, it } from "vitest";
import { createSessionStore } from "../sessions/store.ts";
import { BUILT_CLEW, clew } from "../testing/command.ts";
import { type EditorOptions, startEditor, type TestEditor } from "../testing/editor.ts";
import { startTestGateway } from "../testing/gateway.ts";
import { homeWithOwnPort, temporaryHome } from "../testing/home.ts";
import { scriptedSettings } from "../testing/mcp.ts";
import { obedientModel, run } from "../testing/obedient-model.ts";

const { session } = methods.agent;

/** A home with a model that does what it is told, and a project beside it. */
async function world(settings: Record<string, unknown> = {}) {
  const home = await temporaryHome();
  const project = await temporaryHome();
  const { config } = await obedientModel();
  const whole = { ...config, ...settings, gateway: { port: 1 } };
  await writeFile(join(home, "clew.json"), JSON.stringify(whole));
  await writeFile(join(project, "notes.txt"), "one\ntwo\n");
  return { home, project, config: { ...config, ...settings } };
}

type World = Awaited<ReturnType<typeof world>>;

function talkIn(editor: TestEditor, sessionId: string) {
  const prompt = (text: string) =>
    editor.agent.request(session.prompt, { sessionId, prompt: [{ type: "text", text }] });
  return { editor, sessionId, prompt };
}

async function begin(given: World, options: EditorOptions = {}) {
  const editor = await startEditor(given.home, options);
  const opened = await editor.agent.request(session.new, { cwd: given.project, mcpServers: [] });
  return { ...talkIn(editor, opened.sessionId), opened };
}

const choose = (
  { agent }: TestEditor,
  option: SetSessionConfigOptionRequest,
): Promise<SetSessionConfigOptionResponse> => agent.request(session.setConfigOption, option);

/** What was refused, and with which code of ours. */
const refusal = (asked: Promise<unknown>): Promise<object> =>
  asked.then(
    () => ({ answered: true }),
    (error: RequestError) => ({ code: error.code, message: error.message, data: error.data }),
  );

async function until(isThere: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isThere())) await new Promise((resolve) => setTimeout(resolve, 10));
}

/** A message waits, and its file is whole. */
function isKept(home: string): boolean {
  const folder = join(home, "agents/main/waiting");
  return existsSync(folder) && readdirSync(folder).some((name) => name.endsWith(".json"));
}

const kinds = (updates: readonly SessionUpdate[]) => [
  ...new Set(updates.map(({ sessionUpdate }) => sessionUpdate)),
];

/** Who says what in a session, as its file has it. */
async function shown(home: string, key: string): Promise<string[]> {
  const { branch = [] } = (await createSessionStore({ home }).read(key)) ?? {};
  return branch.flatMap((entry) => (entry.type === "message" ? [entry.message.role] : []));
}

/** The model was asked, and answers nothing yet. */
const isAsked = (editor: TestEditor, since: number) =>
  editor.updates.slice(since).some(({ sessionUpdate }) => sessionUpdate === "usage_update");

describe("clew acp", () => {
  it("answers in the editor's folder, asks before it writes, and shows the change", async () => {
    const given = await world();
    const { editor, prompt, sessionId, opened } = await begin(given);
    expect(opened.modes).toMatchObject({
      currentModeId: "ask",
      availableModes: [{ id: "ask" }, { id: "edit" }, { id: "read" }],
    });
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
    const [first] = told as { toolCallId: string }[];
    expect(editor.permissions[0]!.toolCall.toolCallId).toBe(first!.toolCallId);
    expect(kinds(editor.updates)).toEqual(
      expect.arrayContaining(["usage_update", "available_commands_update", "session_info_update"]),
    );
    expect(await editor.leave()).toBe(0);
  });

  it("goes through thirty turns with tools, approvals, cancels and loads, and loses none", async () => {
    const given = await world();
    const editor = await startEditor(given.home, {
      onPermission: ({ toolCall }) => (JSON.stringify(toolCall).includes("no.txt") ? "no" : "once"),
    });
    const opened = await editor.agent.request(session.new, { cwd: given.project, mcpServers: [] });
    let { prompt, sessionId } = talkIn(editor, opened.sessionId);
    const reasons: string[] = [];
    for (let turn = 1; turn <= 30; turn++) {
      const text =
        turn % 5 === 1
          ? run("write_file", { path: `made-${turn}.txt`, content: `of turn ${turn}\n` })
          : turn % 5 === 2
            ? run("write_file", { path: "no.txt", content: "never" })
            : turn % 5 === 3
              ? run("read_file", { path: "notes.txt" })
              : turn % 5 === 4
                ? "HANG"
                : `say ${turn}`;
      const before = editor.updates.length;
      const asked = prompt(text);
      if (text === "HANG") {
        await until(() => isAsked(editor, before));
        await editor.agent.notify(session.cancel, { sessionId });
      }
      reasons.push((await asked).stopReason);
      if (turn % 10 === 0) {
        await editor.agent.request(session.close, { sessionId });
        const place = { cwd: given.project, mcpServers: [] };
        await editor.agent.request(session.load, { sessionId, ...place });
        ({ prompt, sessionId } = talkIn(editor, sessionId));
      }
    }
    expect(reasons.filter((reason) => reason === "cancelled")).toHaveLength(6);
    expect(reasons.filter((reason) => reason === "end_turn")).toHaveLength(24);
    expect(editor.permissions).toHaveLength(12);
    expect((await readdir(given.project)).sort()).toEqual(
      ["notes.txt", ...[1, 6, 11, 16, 21, 26].map((turn) => `made-${turn}.txt`)].sort(),
    );
    const before = editor.notifications.length;
    await editor.agent.request(session.load, { sessionId, cwd: given.project, mcpServers: [] });
    const replayed = editor.notifications.slice(before).map(({ update }) => update);
    const said = replayed.filter(({ sessionUpdate }) => sessionUpdate === "user_message_chunk");
    expect(said).toHaveLength(30);
    expect(replayed.filter(({ sessionUpdate }) => sessionUpdate === "tool_call")).toHaveLength(18);
    expect(await editor.leave()).toBe(0);
    const roles = await shown(given.home, sessionId);
    expect(roles.filter((role) => role === "user")).toHaveLength(30);
    expect(roles.filter((role) => role === "toolResult")).toHaveLength(18);
    expect(editor.errors()).toBe("");
  }, 120_000);

  it("shares its sessions with the gateway that runs, and goes on when that went away", async () => {
    const given = await world();
    const first = await startTestGateway(given.config, given.home);
    const { editor, prompt, sessionId } = await begin(given, {
      onPermission: () => new Promise(() => {}),
    });
    expect(await prompt("one")).toEqual({ stopReason: "end_turn" });
    // What is said elsewhere is shown in the editor, and what is said there is the gateway's.
    await first.say("from the page", { session: sessionId });
    await until(() => editor.texts("agent_message_chunk").includes("heard: from the page"));
    expect(editor.texts("user_message_chunk")).toBe("from the page");
    const listed = await (await first.get("/api/sessions")).json();
    expect(listed).toMatchObject({ sessions: [{ key: sessionId }] });
    const hanging = refusal(prompt(run("write_file", { path: "never.txt", content: "" })));
    await until(() => editor.permissions.length === 1);
    await first.stop();
    expect(await hanging).toMatchObject({ data: { code: "GATEWAY_STOPPING" } });

    // Another gateway of the home.
    const second = await startTestGateway(given.config, given.home);
    expect(await prompt("two")).toEqual({ stopReason: "end_turn" });
    expect(second.gateway.editors.placeOf(sessionId)?.workspace).toBe(given.project);
    await second.stop();
    // And none.
    expect(await prompt(run("read_file", { path: "notes.txt" }))).toEqual({
      stopReason: "end_turn",
    });
    expect(editor.texts("agent_message_chunk")).toContain("result: one\ntwo");
    expect(await editor.leave()).toBe(0);
    const roles = await shown(given.home, sessionId);
    expect(roles.filter((role) => role === "user")).toHaveLength(5);
  }, 60_000);

  it("records the turn that was under way when the editor left or was killed, and goes on from it", async () => {
    const given = await world();
    const { editor, prompt, sessionId } = await begin(given);
    await prompt("first");
    const before = editor.updates.length;
    void prompt("HANG").catch(() => {});
    await until(() => isAsked(editor, before));
    expect(await editor.leave()).toBe(0);
    expect((await shown(given.home, sessionId)).slice(0, 3)).toEqual(["user", "assistant", "user"]);

    const killed = await startEditor(given.home, { onPermission: () => new Promise(() => {}) });
    await killed.agent.request(session.resume, { sessionId, cwd: given.project });
    const call = run("write_file", { path: "never.txt", content: "" });
    const again = talkIn(killed, sessionId).prompt(call);
    await until(() => killed.permissions.length === 1);
    killed.process.kill("SIGKILL");
    await expect(again).rejects.toThrow("closed");

    const last = await startEditor(given.home);
    await last.agent.request(session.load, { sessionId, cwd: given.project, mcpServers: [] });
    expect(last.texts("user_message_chunk")).toBe(`firstHANG${call}`);
    expect(await talkIn(last, sessionId).prompt("last")).toEqual({ stopReason: "end_turn" });
    expect(last.texts("agent_message_chunk")).toContain("heard: last");
    expect(await last.leave()).toBe(0);
  }, 60_000);

  it("refuses what makes no sense, each with its code, and answers the next prompt", async () => {
    const given = await world();
    const { editor, prompt, sessionId } = await begin(given);
    const { agent } = editor;
    const place = { cwd: given.project, mcpServers: [] };
    expect(await refusal(agent.request(session.new, { ...place, cwd: "src" }))).toEqual({
      ...{ code: -32602, data: { code: "REQUEST_INVALID" } },
      message: 'cwd is "src", and has to be an absolute path.',
    });
    expect(
      await refusal(agent.request(session.new, { ...place, cwd: "/no/such/folder" })),
    ).toMatchObject({ code: -32602 });
    expect(await refusal(agent.request(session.new, { mcpServers: [] } as never))).toMatchObject({
      ...{ code: -32602, data: { code: "REQUEST_INVALID" } },
    });
    for (const method of [session.load, session.resume] as const)
      expect(
        await refusal(agent.request(method, { ...place, sessionId: "agent:main:acp:none" })),
      ).toMatchObject({ code: -32002, data: { code: "SESSION_NOT_FOUND" } });
    const text = { type: "text" as const, text: "hi" };
    expect(
      await refusal(agent.request(session.prompt, { sessionId: "main", prompt: [text] })),
    ).toMatchObject({ code: -32002 });
    expect(await refusal(agent.request(session.prompt, { sessionId, prompt: [] }))).toMatchObject({
      code: -32602,
    });
    expect(await refusal(agent.request(session.setMode, { sessionId, modeId: "yolo" }))).toEqual({
      ...{ code: -32602, data: { code: "REQUEST_INVALID" } },
      message: 'There is no mode "yolo" here; there is: ask, edit, read.',
    });
    const option = { sessionId, configId: "colour", value: "red" };
    expect(await refusal(choose(editor, option))).toMatchObject({
      code: -32602,
    });
    const unknown = { sessionId, configId: "model", value: "nobody/nothing" };
    expect(await refusal(choose(editor, unknown))).toMatchObject({
      code: -32600,
    });
    expect(await refusal(agent.request("_unknown", {}))).toMatchObject({
      ...{ code: -32601, data: { code: "REQUEST_INVALID" } },
    });
    editor.process.stdin!.write('garbage\n{"jsonrpc":"1.0"}\n[]\n42\n');
    expect(
      await prompt("FAIL").then(
        () => null,
        (error: RequestError) => error.code,
      ),
    ).toBe(-32603);
    expect(await prompt("next")).toEqual({ stopReason: "end_turn" });
    expect(await editor.leave()).toBe(0);
  }, 60_000);

  it("answers a second prompt after the first one, or refuses it, as the settings say, and cancels all", async () => {
    for (const whenBusy of ["follow", "refuse"]) {
      const given = await world({ session: { whenBusy } });
      const { editor, prompt, sessionId } = await begin(given);
      await until(() => kinds(editor.updates).includes("usage_update"));
      const since = editor.updates.length;
      const first = prompt("HANG");
      await until(() => isAsked(editor, since));
      const second = whenBusy === "refuse" ? refusal(prompt("second")) : prompt("second");
      if (whenBusy === "refuse")
        expect(await second).toMatchObject({ code: -32600, data: { code: "SESSION_BUSY" } });
      else await until(() => isKept(given.home));
      await editor.agent.notify(session.cancel, { sessionId });
      expect(await first).toEqual({ stopReason: "cancelled" });
      if (whenBusy === "follow") expect(await second).toEqual({ stopReason: "cancelled" });
      expect(await prompt("third")).toEqual({ stopReason: "end_turn" });
      expect(await editor.leave()).toBe(0);
    }
  }, 60_000);

  it("steers by a second prompt where the settings say so, and answers both", async () => {
    const given = await world({ session: { whenBusy: "steer" } });
    const allowed = Promise.withResolvers<string>();
    const { editor, prompt } = await begin(given, { onPermission: () => allowed.promise });
    const first = prompt(run("write_file", { path: "a.txt", content: "" }));
    await until(() => editor.permissions.length === 1);
    const second = prompt("also this");
    await until(() => isKept(given.home));
    allowed.resolve("once");
    expect([await first, await second]).toEqual([
      { stopReason: "end_turn" },
      { stopReason: "end_turn" },
    ]);
    expect(editor.texts("agent_message_chunk")).toBe("heard: also this");
    expect(editor.texts("user_message_chunk")).toBe("");
    expect(await editor.leave()).toBe(0);
  }, 60_000);

  it("takes an answer that was given elsewhere, and says who has a session that it cannot have", async () => {
    const given = await world();
    const running = await startTestGateway(given.config, given.home);
    const { editor, prompt, sessionId } = await begin(given, {
      onPermission: () => new Promise(() => {}),
    });
    const asked = prompt(run("write_file", { path: "a.txt", content: "" }));
    await until(() => editor.permissions.length === 1);
    const [approval] = running.gateway.approvals.pending();
    running.gateway.approvals.answer(approval!.id, "once", "page");
    expect(await asked).toEqual({ stopReason: "end_turn" });
    expect(existsSync(join(given.project, "a.txt"))).toBe(true);
    // A command that cannot find the gateway goes on alone, and the gateway has the session.
    await writeFile(join(given.home, "gateway.json"), "{}");
    const alone = await startEditor(given.home);
    await alone.agent.request(session.resume, { sessionId, cwd: given.project });
    expect(await refusal(talkIn(alone, sessionId).prompt("mine"))).toMatchObject({
      ...{ code: -32603, data: { code: "SESSION_LOCKED" } },
    });
    expect(await alone.leave()).toBe(0);
    expect(await prompt("still here")).toEqual({ stopReason: "end_turn" });
    expect(await editor.leave()).toBe(0);
  }, 60_000);

  it.each([
    ["an error", () => Promise.reject(new Error("nobody looks"))],
    ["nothing of use", () => ({})],
  ])(
    "refuses a call at once where the editor answers with %s and nobody else is there",
    async (_how, onPermission) => {
      const given = await world();
      const { editor, prompt } = await begin(given, { onPermission });
      await prompt(run("write_file", { path: "never.txt", content: "" }));
      expect(editor.permissions).toHaveLength(1);
      expect(editor.texts("agent_message_chunk")).toMatch(
        /write_file was not run: it needs a person's approval, and nobody could be asked: the editor cannot ask \(.+\)\./,
      );
      expect(existsSync(join(given.project, "never.txt"))).toBe(false);
      expect(await editor.leave()).toBe(0);
    },
    60_000,
  );

  it("says where else to answer what the editor cannot ask", async () => {
    const given = await world();
    const running = await startTestGateway(given.config, given.home);
    const { editor, prompt } = await begin(given, { onPermission: () => ({}) });
    const asked = prompt(run("write_file", { path: "a.txt", content: "" }));
    await until(() => editor.texts("agent_message_chunk").includes("clew approvals answer"));
    const [approval] = running.gateway.approvals.pending();
    expect(editor.texts("agent_message_chunk")).toContain(
      `> **Clew:** write_file needs a person's approval, and the editor cannot ask (its answer has no outcome). Answer on the page, or with "clew approvals answer ${approval!.id} once"; after`,
    );
    running.gateway.approvals.answer(approval!.id, "once", "page");
    await asked;
    expect(existsSync(join(given.project, "a.txt"))).toBe(true);
    expect(await editor.leave()).toBe(0);
  }, 60_000);

  it("tells of servers that an editor sends and that are not there", async () => {
    const given = await world();
    for (const capabilities of [{}, { session: { notices: {} } }]) {
      const editor = await startEditor(given.home, { capabilities });
      const mcpServers: McpServer[] = [
        { name: "none", command: "/no/such/program", args: [], env: [] },
        { type: "sse", name: "old", url: "http://127.0.0.1:1/sse", headers: [] },
      ];
      const { sessionId } = await editor.agent.request(session.new, {
        ...{ cwd: given.project, mcpServers },
      });
      await talkIn(editor, sessionId).prompt("hello");
      const said =
        "session" in capabilities
          ? editor.updates.flatMap((each) => (each.sessionUpdate === "notice" ? [each.title] : []))
          : editor.texts("agent_message_chunk").split("> **Clew:** ");
      expect(said.join("\n")).toMatch(
        /MCP server "none" is not there: its program .* is not there/,
      );
      expect(said.join("\n")).toMatch(/MCP server "old" is not there: it is reached by SSE/);
      expect(await editor.leave()).toBe(0);
    }
  }, 60_000);

  it("says that a program with tools of its own uses none of the servers that an editor sends", async () => {
    const { home, project, config } = await world();
    const agents = { defaults: { ...config.agents.defaults, harness: "claude-cli" } };
    const whole = JSON.stringify({ ...config, agents, gateway: { port: 1 } });
    await writeFile(join(home, "clew.json"), whole);
    const editor = await startEditor(home);
    const { command, args } = scriptedSettings();
    const mcpServers: McpServer[] = [{ name: "mine", command, args, env: [] }];
    const opened = await editor.agent.request(session.new, { cwd: project, mcpServers });
    // The model cannot be asked by that program.
    await refusal(talkIn(editor, opened.sessionId).prompt("hello"));
    expect(editor.texts("agent_message_chunk")).toContain(
      '> **Clew:** CLI backend "claude-cli" runs the turns of this session and uses none of the MCP servers that the editor sends (mine);',
    );
    expect(await editor.leave()).toBe(0);
  }, 60_000);

  it("shows the model's plan as it is now, also when the session is loaded", async () => {
    const given = await world();
    const { editor, prompt, sessionId } = await begin(given);
    const steps = [
      { step: "Look around", status: "completed" },
      { step: "Write", status: "in_progress" },
    ];
    await prompt(run("show_plan", { plan: steps }));
    expect(editor.texts("agent_message_chunk")).toContain("1 of 2 steps done");
    const plan = {
      sessionUpdate: "plan",
      entries: [
        { content: "Look around", status: "completed", priority: "medium" },
        { content: "Write", status: "in_progress", priority: "medium" },
      ],
    };
    const told = (updates: readonly SessionUpdate[]) =>
      updates.filter(({ sessionUpdate }) => /^plan|^tool_/.test(sessionUpdate));
    expect(told(editor.updates)).toEqual([plan]);
    expect(editor.permissions).toEqual([]);
    await prompt(run("show_plan", { plan: "none" }));
    expect(told(editor.updates).at(-1)).toMatchObject({ status: "failed" });
    expect(await editor.leave()).toBe(0);
    const again = await startEditor(given.home);
    const place = { sessionId, cwd: given.project, mcpServers: [] };
    await again.agent.request(session.load, place);
    expect(told(again.updates)[0]).toEqual(plan);
    expect(await again.leave()).toBe(0);
  }, 60_000);

  it("reads, writes and runs in the editor where that offers it", async () => {
    const given = await world();
    const path = join(given.project, "notes.txt");
    const buffers = new Map([[path, "unsaved one\n"]]);
    const { editor, prompt } = await begin(given, {
      ...{ buffers, onPermission: () => "once" },
      capabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: true },
    });
    await prompt(run("read_file", { path: "notes.txt" }));
    expect(editor.texts("agent_message_chunk")).toBe("result: unsaved one\n");
    await prompt(run("edit_file", { path: "notes.txt", old_text: "one", new_text: "ONE" }));
    expect(buffers.get(path)).toBe("unsaved ONE\n");
    expect(await readFile(path, "utf8")).toBe("one\ntwo\n");
    await prompt(run("run_command", { command: "echo from the terminal; exit 3" }));
    expect(editor.texts("agent_message_chunk")).toContain("from the terminal\n[exit code 3]");
    const shownTerminal = { content: [{ type: "terminal", terminalId: "t1" }] };
    expect(editor.updates).toContainEqual(expect.objectContaining(shownTerminal));
    await prompt(run("run_command", { command: "sleep 60", timeout_seconds: 0.3 }));
    expect(editor.texts("agent_message_chunk")).toContain("ran for more than 300 ms");
    expect(editor.asked).toEqual(
      expect.arrayContaining([`read ${path}`, `write ${path}`, "kill t2", "release t1"]),
    );
    expect(await editor.leave()).toBe(0);
  }, 60_000);

  it("changes files unasked, asks, or changes nothing, by the mode that is chosen", async () => {
    const given = await world();
    const { editor, prompt, sessionId } = await begin(given);
    const write = (name: string) => prompt(run("write_file", { path: name, content: "x" }));
    await editor.agent.request(session.setMode, { sessionId, modeId: "edit" });
    await write("free.txt");
    expect(editor.permissions).toEqual([]);
    await prompt(run("run_command", { command: "true" }));
    expect(editor.permissions).toHaveLength(1);
    const read = { sessionId, configId: "mode", value: "read" };
    const { configOptions } = await choose(editor, read);
    expect(configOptions[0]).toMatchObject({ id: "mode", currentValue: "read" });
    expect(editor.updates).toContainEqual({
      ...{ sessionUpdate: "current_mode_update", currentModeId: "read" },
    });
    await write("never.txt");
    expect(editor.texts("agent_message_chunk")).toContain('There is no tool "write_file"');
    expect((await readdir(given.project)).sort()).toEqual(["free.txt", "notes.txt"]);
    expect(await editor.leave()).toBe(0);

    // The mode is the session's, and what the settings switch off no mode switches on.
    const next = await startEditor(given.home);
    const resumed = await next.agent.request(session.resume, { sessionId, cwd: given.project });
    expect(resumed.modes?.currentModeId).toBe("read");
    await next.leave();
    const off = await world({ tools: { write: "off", shell: "off" } });
    const { opened } = await begin(off);
    expect(opened.modes?.availableModes.map(({ id }) => id)).toEqual(["read"]);
  }, 60_000);

  it("offers commands and options, lists, closes and deletes", async () => {
    const given = await world();
    const { editor, prompt, sessionId, opened } = await begin(given);
    const { agent } = editor;
    expect(opened.configOptions?.map(({ id }) => id)).toEqual([
      ...["mode", "model", "thinking", "engine"],
    ]);
    await prompt("/status");
    expect(editor.texts("agent_message_chunk")).toContain("Model: emulated/emulated");
    const thinking = { sessionId, configId: "thinking", value: "high" };
    const { configOptions } = await choose(editor, thinking);
    expect(configOptions.find(({ id }) => id === "thinking")).toMatchObject({
      currentValue: "high",
    });
    await prompt("/model offline/offline");
    await until(() => JSON.stringify(editor.updates).includes('"currentValue":"offline/offline"'));
    await prompt("My cat is called Minka.");
    const engine = { sessionId, configId: "engine", value: "legacy" };
    await choose(editor, engine);
    const listed = await agent.request(session.list, { cwd: given.project });
    expect(listed.sessions).toMatchObject([
      { sessionId, cwd: given.project, title: "My cat is called Minka." },
    ]);
    const nowhere = await agent.request(session.list, { cwd: "/" });
    expect(nowhere.sessions).toEqual([]);
    await agent.request(session.close, { sessionId });
    expect(await refusal(prompt("closed"))).toMatchObject({ code: -32002 });
    await agent.request(session.delete, { sessionId });
    const left = await agent.request(session.list, {});
    expect(left.sessions).toEqual([]);
    const unsaid = await agent.request(session.new, { cwd: given.project, mcpServers: [] });
    await agent.request(session.close, { sessionId: unsaid.sessionId });
    expect(await readdir(join(given.home, "agents/main/editors"))).toEqual([]);
    expect(await editor.leave()).toBe(0);
  }, 60_000);

  it("takes texts, links, attachments and images, and tells of them when it is loaded", async () => {
    const given = await world();
    const { editor, sessionId } = await begin(given);
    const pixel =
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    const uri = `file://${join(given.project, "notes.txt")}`;
    const prompt: ContentBlock[] = [
      { type: "text", text: "Look at " },
      { type: "resource_link", name: "notes.txt", uri },
      { type: "resource", resource: { uri, text: "attached text" } },
      { type: "image", data: pixel, mimeType: "image/png" },
      { type: "text", text: "and say so" },
    ];
    const { stopReason } = await editor.agent.request(session.prompt, {
      sessionId,
      prompt,
    });
    expect(stopReason).toBe("end_turn");
    await editor.agent.request(session.load, { sessionId, cwd: given.project, mcpServers: [] });
    const told = editor.texts("user_message_chunk");
    expect(told).toContain("Look at [@notes.txt](notes.txt)");
    expect(told).toContain("attached text");
    expect(editor.updates).toContainEqual({
      sessionUpdate: "user_message_chunk",
      content: { type: "image", data: pixel, mimeType: "image/png" },
    });
    expect(await editor.leave()).toBe(0);
  }, 60_000);

  it("uses the servers that an editor sends, in that session alone and asking as for any tool", async () => {
    const given = await world();
    const editor = await startEditor(given.home);
    const { command, args } = scriptedSettings();
    const mcpServers: McpServer[] = [
      { name: "mine", command, args, env: [{ name: "MINE", value: "1" }] },
    ];
    const opened = await editor.agent.request(session.new, { cwd: given.project, mcpServers });
    const { prompt } = talkIn(editor, opened.sessionId);
    await prompt(run("mcp__mine__echo", { text: "from a server" }));
    expect(editor.texts("agent_message_chunk")).toContain("from a server");
    const other = await editor.agent.request(session.new, { cwd: given.project, mcpServers: [] });
    await talkIn(editor, other.sessionId).prompt(run("mcp__mine__echo", { text: "x" }));
    expect(editor.texts("agent_message_chunk")).toContain('There is no tool "mcp__mine__echo"');
    expect(await editor.leave()).toBe(0);
  }, 60_000);

  it("refuses all but the first question before it is initialized, says once what comes twice, and prints nothing else", async () => {
    const home = await homeWithOwnPort();
    const child = spawn(process.execPath, [BUILT_CLEW, "acp"], {
      env: { ...process.env, CLEW_HOME: home, OPENCLAW_STATE_DIR: "" },
      stdio: ["pipe", "pipe", "ignore"],
    });
    let output = "";
    child.stdout.on("data", (bytes: Buffer) => {
      output += bytes.toString();
    });
    const ask = (id: number, method: string, params: object) =>
      child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    const lines = () =>
      output.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as Line]));
    const answerTo = (id: number) => lines().find((line) => line.id === id);
    ask(1, "session/new", { cwd: "/", mcpServers: [] });
    ask(2, "initialize", { protocolVersion: 99 });
    await until(() => answerTo(2) !== undefined);
    expect(answerTo(1)).toMatchObject({ error: { code: -32600 } });
    const agentInfo = { name: "clew" };
    expect(answerTo(2)).toMatchObject({ result: { protocolVersion: 1, agentInfo } });
    ask(3, "session/new", { cwd: home, mcpServers: [] });
    await until(() => answerTo(3) !== undefined);
    const sessionId = String(answerTo(3)!.result!.sessionId);
    const prompt = [{ type: "text", text: "once" }];
    for (const _time of [1, 2]) ask(4, "session/prompt", { sessionId, prompt });
    await until(() => answerTo(4) !== undefined);
    child.stdin.end();
    await once(child, "exit");
    expect(child.exitCode).toBe(0);
    expect(lines().filter(({ id }) => id === 4)).toMatchObject([
      { result: { stopReason: "end_turn" } },
    ]);
    expect(await shown(home, sessionId)).toEqual(["user", "assistant"]);
  }, 60_000);
});

it("says which agents there are where another one is named", async () => {
  const { code, errors } = await clew(await temporaryHome(), ["acp", "--agent", "nobody"]);
  expect(code).toBe(2);
  expect(errors).toBe('clew: There is no agent "nobody"; there is: main. [REQUEST_INVALID]');
});

interface Line {
  id?: number;
  result?: Record<string, unknown>;
}
