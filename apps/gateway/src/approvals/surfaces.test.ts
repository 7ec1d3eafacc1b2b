// Three askers, four places to answer, and every way in which a question ends.
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import { describe, expect, it, onTestFinished } from "vitest";
import { askInTerminal } from "../cli/approval.ts";
import { throughGateway } from "../cli/chat/port-gateway.ts";
import { ownQuestions } from "../cli/say/questions.ts";
import { typedLine } from "../cli/typed-line.ts";
import { findOwnGateway } from "../gateway-client.ts";
import { shortName } from "../sessions/keys.ts";
import { clew, collectOutput, startClew } from "../testing/command.ts";
import { parseStream, post } from "../testing/gateway.ts";
import { temporaryHome } from "../testing/home.ts";
import { obedientModel, run } from "../testing/obedient-model.ts";
import { startServedGateway, writePlugin } from "../testing/plugins.ts";
import type { Approval, ApprovalAnswer } from "./approval.ts";

const TOKEN = "a-token-of-sixteen-or-more";

/** On a machine that is busy with much else. */
const SOON = { timeout: 120_000 };

/** A plugin's tool that changes something: a line in a file for each run. */
const CODE = `
import { appendFileSync } from "node:fs";
export default (api) => api.registerTool({
  name: "change", description: "", parameters: { type: "object", properties: { file: { type: "string" } } },
  execute: (_, { file }) => { appendFileSync(file, "ran\\n"); return { content: [{ type: "text", text: "changed" }] }; },
});`;

async function openPlace(expireMs = 60_000) {
  const home = await temporaryHome();
  const { config, server } = await obedientModel({ enabled: true });
  const folder = writePlugin(join(home, "plugin"), {
    ...{ code: CODE, manifest: { contracts: { tools: ["change"] } } },
  });
  const all = {
    ...config,
    tools: { approval: { expireMs }, shell: "ask" },
    gateway: { port: 0, auth: { token: TOKEN } },
    plugins: { load: { paths: [folder] } },
  };
  writeFileSync(join(home, "clew.json"), JSON.stringify(all));
  const file = join(home, "changed");
  mkdirSync(join(home, "agents/main/workspace"), { recursive: true });
  const ran = () => (existsSync(file) ? readFileSync(file, "utf8").split("\n").length - 1 : 0);
  return { home, config: all, file, ran, server };
}

/** Who has a tool run, as what is said to the model. */
const ASKERS = {
  "a plugin's tool": (file: string) => run("change", { file }),
  "a tool of the gateway": (file: string) => run("run_command", { command: `echo ran >> ${file}` }),
  "a plugin's tool in a child session": (file: string) =>
    run("sessions_spawn", { task: run("change", { file }), mode: "isolated" }),
};

type Served = Awaited<ReturnType<typeof startServedGateway>> & { home: string };

async function chatPort({ server, home }: Served) {
  const find = () => findOwnGateway({ home, port: Number(new URL(server.url).port) });
  const found = await find();
  if (found.kind !== "running") throw new Error(`The gateway is ${found.kind}.`);
  return throughGateway({ gateway: found.gateway, find, folder: home });
}

/** Answers from a place, and says whether that counted. */
const SURFACES: Record<
  string,
  (served: Served, approval: Approval, answer: ApprovalAnswer) => Promise<boolean>
> = {
  async terminal({ gateway }, _, answer) {
    const input = new PassThrough();
    const output = new PassThrough();
    const lines = createInterface({ input, output });
    const about = { output: collectOutput(), sessionKey: "agent:main:main", isTerminal: true };
    const asking = askInTerminal(ownQuestions(gateway.approvals), about);
    onTestFinished(asking.stop);
    asking.use(typedLine(lines, output));
    // Nobody answers what is not asked yet.
    await once(output, "data");
    input.write(`${{ once: "y", session: "s", no: "n" }[answer]}\n`);
    return true;
  },
  async page(served, { id }, answer) {
    const { output: link } = await clew(served.home, ["approvals", "link"]);
    const opened = await fetch(link);
    expect(opened.status).toBe(200);
    const cookie = opened.headers.get("set-cookie")!;
    expect(cookie).toMatch(/HttpOnly; SameSite=Strict$/);
    const headers = { cookie: cookie.split(";")[0]!, origin: served.server.url };
    const path = `${served.server.url}/api/approvals/${id}/${answer}`;
    return (await fetch(path, { method: "POST", headers })).status === 200;
  },
  async http(served, { id }, answer) {
    const headers = { authorization: `Bearer ${TOKEN}` };
    const path = `${served.server.url}/api/approvals/${id}/${answer}`;
    return (await fetch(path, { method: "POST", headers })).status === 200;
  },
  async chat(served, { id }, answer) {
    return (await (await chatPort(served)).answer(id, answer)) === null;
  },
  async command({ home }, { id }, answer) {
    return (await clew(home, ["approvals", "answer", id, answer])).code === 0;
  },
};

async function begin(asker: keyof typeof ASKERS, expireMs?: number) {
  const place = await openPlace(expireMs);
  const started = await startServedGateway(place.config, place.home);
  const served: Served = { ...started, home: place.home };
  const turn = served.gateway.send({ key: "main", content: ASKERS[asker](place.file) });
  return { ...place, served, turn };
}

function waiting({ gateway }: Served): Promise<Approval> {
  const { promise, resolve } = Promise.withResolvers<Approval>();
  const stop = gateway.approvals.attach({ canAnswer: false, asked: resolve, over: () => {} });
  return promise.finally(stop);
}

describe.each(Object.keys(ASKERS) as (keyof typeof ASKERS)[])("%s", (asker) => {
  it.each(Object.keys(SURFACES))("runs once when it is allowed by %s", async (surface) => {
    const { served, turn, ran } = await begin(asker);
    const approval = await waiting(served);
    expect(await SURFACES[surface]!(served, approval, "once")).toBe(true);
    expect((await turn).outcome).toBe("completed");
    await expect.poll(ran, SOON).toBe(1);
    for (const late of ["page", "http", "command"])
      expect(await SURFACES[late]!(served, approval, "no"), late).toBe(false);
    expect(ran()).toBe(1);
  });

  it.each(Object.keys(SURFACES))("does not run when %s says no", async (surface) => {
    const { served, turn, ran } = await begin(asker);
    await SURFACES[surface]!(served, await waiting(served), "no");
    expect((await turn).outcome).toBe("completed");
    await expect.poll(() => served.gateway.approvals.pending(), SOON).toEqual([]);
    expect(ran()).toBe(0);
  });

  it("does not run when nobody answers, and late answers hear why", async () => {
    const { served, turn, ran } = await begin(asker, 150);
    const approval = await waiting(served);
    expect((await turn).outcome).toBe("completed");
    await expect.poll(() => served.gateway.approvals.pending(), SOON).toEqual([]);
    const late = await clew(served.home, ["approvals", "answer", approval.id, "once"]);
    expect(late).toMatchObject({
      ...{ code: 1, errors: expect.stringContaining("nobody answered within 150 ms") },
    });
    expect(ran()).toBe(0);
  });

  it("does not run when the turn is stopped meanwhile", async () => {
    const { served, turn, ran } = await begin(asker);
    await waiting(served);
    served.gateway.cancel("main");
    await turn;
    await expect.poll(() => served.gateway.approvals.pending(), SOON).toEqual([]);
    expect(ran()).toBe(0);
  });
});

describe("approvals", () => {
  it("are told in the stream of the turn and in its report, and answered by nobody unknown", async () => {
    const { served, turn, file, home } = await begin("a plugin's tool");
    await SURFACES.command!(served, await waiting(served), "no");
    const asked = post({ text: run("change", { file }) });
    const authorization = `Bearer ${TOKEN}`;
    const streaming = fetch(`${served.server.url}/api/sessions/other/messages`, {
      ...asked,
      headers: { ...(asked.headers as object), authorization },
    });
    const { id } = await waiting(served);
    const known = await fetch(`${served.server.url}/api/approvals`, { headers: { authorization } });
    expect(await known.json()).toMatchObject({ approvals: [{ id }], mayAnswer: true });
    const path = `${served.server.url}/api/approvals/${id}/once`;
    for (const headers of [{}, { authorization: "Bearer no" }, { cookie: "clew_1=no" }])
      expect((await fetch(path, { method: "POST", headers })).status).toBe(401);
    expect((await fetch(`${served.server.url}/open/${"0".repeat(40)}`)).status).toBe(403);
    expect((await fetch(`${served.server.url}/api/approvals/link`)).status).toBe(401);
    const wrong = await clew(home, ["approvals", "answer", id, "perhaps"]);
    expect(wrong).toMatchObject({ errors: expect.stringContaining('"perhaps" is no answer') });
    const listed = await clew(home, ["approvals", "list", "--session", "other"]);
    expect(listed.output).toContain(`${id}  plugin "small" asks in session other to run change;`);
    expect((await clew(home, ["approvals", "list", "--session", "main"])).output).toBe(
      "No turn of the gateway waits for an answer; a chat asks in its own terminal.",
    );
    await clew(home, ["approvals", "answer", id, "once"]);
    const { events } = parseStream(await (await streaming).text());
    expect(events.filter(({ type }) => `${type}`.startsWith("approval"))).toMatchObject([
      { type: "approval", approval: { id, name: "change", arguments: { file } } },
      { type: "approval_end", id, text: 'allowed once with "clew approvals"' },
    ]);
    expect((await turn).report.toolCalls).toMatchObject([
      { name: "change", isError: true, note: expect.stringContaining("a person refused it") },
    ]);
  });

  it.each([
    ["once", "allowed once in the chat"],
    ["no", "a person refused it in the chat"],
  ] as const)("say where they were answered %s: in the chat itself", async (answer, told) => {
    const { served, turn } = await begin("a plugin's tool");
    await SURFACES.chat!(served, await waiting(served), answer);
    const { toolCalls } = (await turn).report;
    expect(toolCalls).toMatchObject([{ name: "change", note: expect.stringContaining(told) }]);
    expect(JSON.stringify(toolCalls)).not.toContain("clew approvals");
  });

  it("show nothing raw of what is asked, which can write no lines into the list", async () => {
    const { home, config } = await openPlace();
    const served = { ...(await startServedGateway(config, home)), home };
    const command = "rm -rf x #\r\u001b[2K\u202e gnp\n\ndeadbeef  the gateway asks to run ls";
    const turn = served.gateway.send({ key: "main", content: run("run_command", { command }) });
    const { id } = await waiting(served);
    const shown = String.raw`rm -rf x #\r\u001b[2K\u202e gnp\n\ndeadbeef  the gateway asks to run ls`;
    const { output } = await clew(home, ["approvals", "list"]);
    expect(output.split("\n")).toEqual([
      expect.stringContaining(`${id}  the gateway asks in session main to run run_command;`),
      ...["    {", `      "command": "${shown}"`, "    }"],
      `    clew approvals answer ${id} once | session (allows the same call of run_command again) | no`,
    ]);
    const status = { kind: "command", name: "status", args: "" } as const;
    expect((await served.gateway.command("main", status)).text).toContain(
      `: run_command {"command":"${shown}"} (`,
    );
    await SURFACES.http!(served, { id } as Approval, "no");
    await turn;
  });

  it("of a child are told in its parent's stream, list and status, and answered from there", async () => {
    const { home, config, file, ran } = await openPlace();
    const served = { ...(await startServedGateway(config, home)), home };
    const asking = { task: run("change", { file }), label: "deep", wait: true };
    const task = run("sessions_spawn", { task: run("sessions_spawn", asking), wait: true });
    const authorization = `Bearer ${TOKEN}`;
    const talk = (session: string, text: string) => {
      const sent = post({ text });
      const headers = { ...(sent.headers as object), authorization };
      return fetch(`${served.server.url}/api/sessions/${session}/messages`, { ...sent, headers });
    };
    const streaming = talk("main", task);
    const approval = await waiting(served);
    const { id, sessionKey, above } = approval;
    const [child, root] = above;
    expect([approval.label, root]).toEqual(["deep", "agent:main:main"]);
    for (const session of ["main", child!, sessionKey, "other"]) {
      const path = `/api/approvals?session=${encodeURIComponent(session)}`;
      const listed = await served.get<{ approvals: Approval[] }>(path, {
        headers: { authorization },
      });
      expect(listed.approvals, session).toMatchObject(session === "other" ? [] : [{ id }]);
    }
    const place = `${shortName(sessionKey)} ("deep", started by ${shortName(child!)})`;
    const status = { kind: "command", name: "status", args: "" } as const;
    const { text } = await served.gateway.command("main", status);
    expect(text).toContain(` in session ${place}: change {`);
    const { output } = await clew(home, ["approvals", "list", "--session", "main"]);
    expect(output).toContain(`asks in session ${place} to run change;`);
    expect(await (await talk("other", "hello")).text()).not.toContain(id);

    expect(await SURFACES.http!(served, approval, "once")).toBe(true);
    const { events } = parseStream(await (await streaming).text());
    expect(events.filter(({ type }) => `${type}`.startsWith("approval"))).toMatchObject([
      { type: "approval", approval: { id, sessionKey, above } },
      { type: "approval_end", id, text: "allowed once over HTTP" },
    ]);
    expect(ran()).toBe(1);
  });

  it("are gone with a gateway that is killed, and the model hears that its call was never answered", async () => {
    const { home, file, ran, server } = await openPlace();
    const first = startClew(home, ["start"]);
    const url = /http:\/\/[\d.:]+/.exec(await first.nextLine())![0];
    const talk = (at: string, text: string) => {
      const sent = post({ text });
      const headers = { ...(sent.headers as object), authorization: `Bearer ${TOKEN}` };
      return fetch(`${at}/api/sessions/main/messages`, { ...sent, headers });
    };
    void talk(url, run("change", { file })).catch(() => {});
    const idOf = async () => {
      const { output } = await clew(home, ["approvals", "list", "--json"]);
      return (JSON.parse(output) as { approvals: Approval[] }).approvals[0]?.id;
    };
    await expect.poll(idOf, SOON).toBeDefined();
    const id = (await idOf())!;
    first.process.kill("SIGKILL");
    await first.exit;
    const away = await clew(home, ["approvals", "answer", id, "once"]);
    expect(away).toMatchObject({ errors: expect.stringContaining("no gateway is running") });

    const second = startClew(home, ["start"]);
    await second.nextLine();
    const late = await clew(home, ["approvals", "answer", id, "once"]);
    expect(late).toMatchObject({
      code: 1,
      errors: expect.stringMatching(/No turn waits .* \[NOT_FOUND\]$/),
    });
    const shown = async () => (await clew(home, ["sessions", "show", "main"])).output;
    const fate = "(never answered: its turn ended before, and the model is told so)";
    expect(await shown()).toMatch(/→ change \{.*\}\n +\(never answered: /);
    const again = /http:\/\/[\d.:]+/.exec(second.lines[0]!)![0];
    await (await talk(again, "go on")).text();
    const { messages } = server.requests.at(-1)!.body as unknown as {
      messages: { role: string; content: string }[];
    };
    expect(messages.filter(({ role }) => role === "tool")).toMatchObject([
      { content: expect.stringContaining("this tool call was never answered") },
    ]);
    expect((await shown()).split(fate)).toHaveLength(2);
    const { output } = await clew(home, ["sessions", "show", "main", "--json"]);
    expect(JSON.parse(output)).toMatchObject({ unanswered: [expect.any(String)] });
    expect(ran()).toBe(0);
    second.process.kill("SIGTERM");
    await second.exit;
  });
});
