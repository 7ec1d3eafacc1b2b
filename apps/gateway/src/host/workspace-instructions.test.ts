import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createOpenAIEmulator } from "@clew/providers/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { silentLog } from "../log/silent.ts";
import { emulatedModel, startTestGateway } from "../testing/gateway.ts";
import { temporaryHome } from "../testing/home.ts";
import { readWorkspaceInstructions } from "./workspace-instructions.ts";

const read = (workspace: string) => readWorkspaceInstructions(workspace, silentLog);

describe("the workspace's instructions", () => {
  it("stand byte for byte in every request, named in what the model saw", async () => {
    const server = await createOpenAIEmulator({ answers: [{ text: "one" }, { text: "two" }] });
    onTestFinished(() => server.close());
    const home = await temporaryHome();
    const workspace = join(home, "agents/main/workspace");
    await mkdir(workspace, { recursive: true });
    const text = "\uFEFF# House rules\r\n\r\n  Speak Frisian — “plain”, with tabs\t.\n\n\n";
    await writeFile(join(workspace, "AGENTS.md"), text);
    await writeFile(join(workspace, "CLAUDE.md"), "not me");
    const { say, gateway } = await startTestGateway(emulatedModel(server.baseUrl), home);
    await say("hello");
    await say("again");
    for (const { body } of server.requests) {
      const [system] = body!.messages as { role: string; content: string }[];
      expect(system!.content.endsWith(text)).toBe(true);
      expect(system!.content).not.toContain("not me");
    }
    const view = (await gateway.context("main"))!;
    expect(view.system.map(({ source }) => source)).toContainEqual({
      kind: "system",
      part: "AGENTS.md",
    });
  });

  it("are CLAUDE.md's where there is no AGENTS.md, and nobody's when both are missing or blank", async () => {
    const workspace = await temporaryHome();
    expect(await read(workspace)).toBeUndefined();
    expect(await read(join(workspace, "nowhere"))).toBeUndefined();
    await writeFile(join(workspace, "CLAUDE.md"), "second");
    expect(await read(workspace)).toEqual({ name: "CLAUDE.md", text: "second" });
    await writeFile(join(workspace, "AGENTS.md"), " \n");
    expect(await read(workspace)).toBeUndefined();
  });

  it("are left out, and the log says so, when they are too large, no text or lead out of the workspace", async () => {
    const home = await temporaryHome();
    await writeFile(join(home, "secret.md"), "secret");
    const cases: [string, (file: string) => Promise<void>][] = [
      ["more than 131072", (file) => writeFile(file, "x".repeat(200_000))],
      ["not UTF-8", (file) => writeFile(file, Buffer.from([0x41, 0xff, 0xfe]))],
      ["leads out of the workspace", (file) => symlink(join(home, "secret.md"), file)],
    ];
    for (const [index, [reason, make]] of cases.entries()) {
      const workspace = join(home, `workspace-${index}`);
      await mkdir(workspace);
      await make(join(workspace, "AGENTS.md"));
      const warnings: string[] = [];
      const log = { ...silentLog, warn: (line: string) => void warnings.push(line) };
      expect(await readWorkspaceInstructions(workspace, log)).toBeUndefined();
      expect(warnings).toEqual([expect.stringContaining(reason)]);
    }
  });
});
