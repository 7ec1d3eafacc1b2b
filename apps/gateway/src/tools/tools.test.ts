import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { HostSession } from "@clew/engine-core";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { temporaryHome } from "../testing/home.ts";
import { type Approve, createToolPort, defineTool } from "./tool.ts";
import { workspaceTools } from "./workspace-tools.ts";

const session: HostSession = {
  agentId: "main",
  sessionId: "s",
  sessionKey: "agent:main:main",
  sessionFile: "/none",
};

async function workspace(files: Record<string, string>) {
  const home = await temporaryHome();
  const root = join(home, "workspace");
  await mkdir(root);
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(root, path, ".."), { recursive: true });
    await writeFile(join(root, path), text);
  }
  const port = createToolPort({ tools: workspaceTools(() => root) });
  const call = async (
    name: string,
    parameters: Record<string, unknown>,
    signal = new AbortController().signal,
  ) => {
    const outcome = await port.run({
      call: { type: "toolCall", id: "1", name, arguments: parameters },
      session,
      signal,
    });
    const [block] = outcome.content;
    return { text: block?.type === "text" ? block.text : "", isError: outcome.isError };
  };
  return { home, root, port, call };
}

describe("the workspace tools", () => {
  it("are offered only where there is a workspace", async () => {
    const { port } = await workspace({});
    expect(port.list(session).map(({ name }) => name)).toEqual(["search_workspace", "read_file"]);
    expect(
      createToolPort({ tools: workspaceTools(() => "/no/such/folder") }).list(session),
    ).toEqual([]);
  });

  it("ask for one required text, so that any model can call them", async () => {
    const { port } = await workspace({});
    expect(port.list(session).map(({ parameters }) => parameters.required)).toEqual([
      ["query"],
      ["path"],
    ]);
  });

  it("find the best matching line first", async () => {
    const { call } = await workspace({
      "notes/a.md": "The harbour opens at nine.\nThe cat sleeps.",
      "b.txt": "opening hours of the harbour: nine",
      "node_modules/x.js": "harbour nine",
      ".secret": "harbour nine",
      "bin.dat": "harbour\0nine",
    });
    const { text } = await call("search_workspace", { query: "harbour opens" });
    expect(text.split("\n")).toEqual([
      "notes/a.md:1: The harbour opens at nine.",
      "b.txt:1: opening hours of the harbour: nine",
    ]);
    expect((await call("search_workspace", { query: "zebra" })).text).toContain("No line");
  });

  it("read a file from a line on and say when they cut it", async () => {
    const { call } = await workspace({
      "long.txt": Array.from({ length: 5000 }, (_, index) => `line ${index + 1}`).join("\n"),
    });
    const first = await call("read_file", { path: "long.txt" });
    expect(first.text.length).toBeLessThan(17_000);
    const next = Number(/from_line (\d+)/.exec(first.text)![1]);
    expect((await call("read_file", { path: "long.txt", from_line: next })).text).toMatch(
      new RegExp(`^line ${next}\n`),
    );
    expect((await call("read_file", { path: "long.txt", from_line: 9999 })).text).toContain(
      "only 5000 lines",
    );
  });

  it("never leave the workspace", async () => {
    const { home, root, call } = await workspace({ "a.txt": "inside" });
    await writeFile(join(home, "secret.txt"), "the secret word");
    await symlink(join(home, "secret.txt"), join(root, "link.txt"));
    await symlink(home, join(root, "up"));
    for (const path of [
      "../secret.txt",
      join(home, "secret.txt"),
      "link.txt",
      "up/secret.txt",
      "x/../../secret.txt",
      "a\0.txt",
      "up",
      ".",
    ]) {
      const outcome = await call("read_file", { path });
      expect(outcome.isError).toBe(true);
      expect(outcome.text).not.toContain("the secret word");
    }
    expect((await call("search_workspace", { query: "secret word" })).text).toContain("No line");
  });

  it("stop when the run is cancelled", async () => {
    const { call } = await workspace({ "a.txt": "x" });
    await expect(
      call("search_workspace", { query: "xx" }, AbortSignal.abort()),
    ).rejects.toMatchObject({ name: "AbortError" });
  });

  it("answer a wrong call with what is wrong", async () => {
    const { call } = await workspace({});
    expect(await call("search_workspace", {})).toMatchObject({
      isError: true,
      text: expect.stringContaining("query"),
    });
    expect(await call("fly", {})).toMatchObject({
      isError: true,
      text: expect.stringContaining("search_workspace, read_file"),
    });
  });
});

describe("a tool that changes something", () => {
  const erase = () => {
    let runs = 0;
    const tool = defineTool({
      name: "erase",
      description: "",
      parameters: z.object({}),
      readOnly: false,
      run: async () => `run ${++runs}`,
    });
    return { tool, runs: () => runs };
  };
  const call = { type: "toolCall" as const, id: "1", name: "erase", arguments: {} };
  const answering =
    (answer: "once" | "no"): Approve =>
    async () => ({ kind: "answered", answer, at: "terminal" });
  const signal = new AbortController().signal;

  it("runs only when a person allows it", async () => {
    const { tool, runs } = erase();
    expect((await createToolPort({ tools: [tool] }).run({ call, session, signal })).isError).toBe(
      true,
    );
    expect(
      (
        await createToolPort({ tools: [tool], approve: answering("no") }).run({
          call,
          session,
          signal,
        })
      ).isError,
    ).toBe(true);
    expect(runs()).toBe(0);
    expect(
      await createToolPort({ tools: [tool], approve: answering("once") }).run({
        call,
        session,
        signal,
      }),
    ).toMatchObject({
      isError: false,
      content: [{ text: "run 1" }],
    });
  });
});
