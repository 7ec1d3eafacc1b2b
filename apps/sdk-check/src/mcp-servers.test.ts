// MCP servers of npm, unchanged, whose tools a gateway's model uses in a turn.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  createOpenAIEmulator,
  type EmulatorAnswer,
} from "../../../packages/providers/src/testing.ts";
import { emulatedModel, startTestGateway } from "../../gateway/src/testing/gateway.ts";
import { temporaryHome } from "../../gateway/src/testing/home.ts";
import { open } from "./servers.ts";

const server = (name: string) =>
  fileURLToPath(import.meta.resolve(`@modelcontextprotocol/${name}/dist/index.js`));
const call = (name: string, given: Record<string, unknown> = {}): EmulatorAnswer => ({
  toolCalls: [{ name, arguments: given }],
});

/** A gateway whose model says what `answers` says, with what it was sent. */
async function start(mcpServers: Record<string, unknown>, answers: EmulatorAnswer[]) {
  const model = await open(createOpenAIEmulator({ answers }));
  const gateway = await startTestGateway({
    ...emulatedModel(model.baseUrl),
    mcp: { servers: mcpServers },
    tools: { approval: { expireMs: 0 } },
  });
  const requests = () =>
    model.requests.map(
      ({ body }) =>
        body as unknown as {
          messages: { role: string; content: unknown }[];
          tools?: { function: { name: string } }[];
        },
    );
  const results = () =>
    requests()
      .at(-1)!
      .messages.filter(({ role }) => role === "tool")
      .map(({ content }) => JSON.stringify(content));
  const offered = () => requests()[0]!.tools!.map((tool) => tool.function.name);
  return { gateway, results, offered };
}

describe("a server of npm in a turn", () => {
  it("reads files, and asks before it writes one", async () => {
    const folder = join(await temporaryHome(), "files");
    await mkdir(folder);
    await writeFile(join(folder, "tides.txt"), "High tide is at noon.");
    const { gateway, results, offered } = await start(
      { files: { command: process.execPath, args: [server("server-filesystem"), folder] } },
      [
        call("mcp__files__read_text_file", { path: join(folder, "tides.txt") }),
        call("mcp__files__list_directory", { path: folder }),
        call("mcp__files__read_text_file", { path: "/etc/passwd" }),
        call("mcp__files__write_file", { path: join(folder, "new.txt"), content: "x" }),
        { text: "At noon." },
      ],
    );
    expect((await gateway.say("When is high tide?")).text).toBe("At noon.");
    expect(offered()).toEqual(expect.arrayContaining(["mcp__files__read_text_file"]));
    const [read, listed, refused, unasked] = results();
    expect(read).toContain("High tide is at noon.");
    expect(read!.match(/High tide/g)).toHaveLength(1);
    expect(listed).toContain("[FILE] tides.txt");
    expect(refused).toMatch(/Access denied/);
    expect(unasked).toMatch(/needs a person's approval/);
  });

  it("does of everything what a model can be shown", async () => {
    const { gateway, results, offered } = await start(
      { everything: { command: process.execPath, args: [server("server-everything"), "stdio"] } },
      [
        call("mcp__everything__echo", { message: "hello" }),
        call("mcp__everything__get-sum", { a: 2, b: 40 }),
        call("mcp__everything__get-tiny-image"),
        call("mcp__everything__get-sum", { a: "two" }),
        { text: "All done." },
      ],
    );
    const said = await gateway.say("Try everything.");
    expect({ text: said.text, offered: offered() }).toMatchObject({ text: "All done." });
    const texts = results();
    expect(texts.join("\n")).toContain("hello");
    expect(texts.join("\n")).toContain("42");
    expect(texts).toHaveLength(4);
  });

  it("is reached over HTTP, too, and comes back when it was away", async () => {
    const port = await freePort();
    const { url, begin } = everythingOverHttp(port);
    const first = await begin();
    const { gateway, results } = await start({ web: { url } }, [
      call("mcp__web__echo", { message: "one" }),
      { text: "first" },
      call("mcp__web__echo", { message: "two" }),
      { text: "second" },
    ]);
    expect((await gateway.say("one")).text).toBe("first");
    expect(results().at(-1)).toContain("one");
    first.kill("SIGKILL");
    await once(first, "exit");
    await begin();
    expect((await gateway.say("two")).text).toBe("second");
    expect(results().at(-1)).toMatch(/two|is not there now|gave no result/);
    expect((await gateway.gateway.mcp.restart("web"))!.state).toBe("ready");
  });
});

function everythingOverHttp(port: number) {
  const begin = async (): Promise<ChildProcess> => {
    const child = spawn(process.execPath, [server("server-everything"), "streamableHttp"], {
      env: { ...process.env, PORT: String(port) },
      stdio: ["ignore", "pipe", "pipe"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    for (const stream of [child.stdout, child.stderr]) stream.on("data", () => {});
    await Promise.race([once(child.stderr, "data"), once(child.stdout, "data")]);
    for (let tries = 0; tries < 100; tries++) {
      const answers = await fetch(`http://127.0.0.1:${port}/mcp`).then(
        () => true,
        () => false,
      );
      if (answers) break;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return child;
  };
  return { url: `http://127.0.0.1:${port}/mcp`, begin };
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as { port: number };
  probe.close();
  return port;
}
