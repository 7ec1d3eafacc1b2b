import { execFileSync, spawnSync } from "node:child_process";
import {
  chmod,
  link,
  mkdir,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import type { HostSession } from "@clew/engine-core";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { planCommandEnvironment } from "../config/command-environment.ts";
import { temporaryHome } from "../testing/home.ts";
import { type Approve, createToolPort, defineTool } from "./tool.ts";
import { type ToolsAllowed, workspaceTools } from "./workspace-tools.ts";

const session: HostSession = {
  agentId: "main",
  sessionId: "s",
  sessionKey: "agent:main:main",
  sessionFile: "/none",
};

const EVERYTHING: ToolsAllowed = {
  ...{ write: "allow", shell: "allow", shellTimeoutMs: 5_000 },
  ...{ own: { home: "/none", configFile: "/none" } },
  env: planCommandEnvironment(
    { ...process.env, EXAMPLE_API_KEY: "secret-key", CARGO_HOME: "shown" },
    { settings: {}, named: [] },
  ),
};

async function workspace(files: Record<string, string>, allowed?: ToolsAllowed) {
  const home = await temporaryHome();
  const root = join(home, "workspace");
  await mkdir(root);
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(root, path, ".."), { recursive: true });
    await writeFile(join(root, path), text);
  }
  const port = createToolPort({ tools: workspaceTools(() => root, allowed) });
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
    const { isError, note } = outcome;
    return { text: block?.type === "text" ? block.text : "", isError, note };
  };
  return { home, root, port, call };
}

describe("the workspace tools", () => {
  it("are offered only where there is a workspace", async () => {
    const { port } = await workspace({});
    expect(port.list(session).map(({ name }) => name)).toEqual([
      ...["search_workspace", "read_file", "list_files"],
    ]);
    expect(
      createToolPort({ tools: workspaceTools(() => "/no/such/folder") }).list(session),
    ).toEqual([]);
  });

  it("ask for one required text, so that any model can call them", async () => {
    const { port } = await workspace({});
    expect(port.list(session).map(({ parameters }) => parameters.required)).toEqual([
      ["query"],
      ["path"],
      undefined,
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
      text: expect.stringContaining("search_workspace, read_file, list_files"),
    });
  });
});

describe("tools that list, write, edit and run", () => {
  it("list files, all or those that a pattern names", async () => {
    const { call } = await workspace({ "src/a.ts": "", "src/deep/b.ts": "", "c.md": "" });
    expect((await call("list_files", {})).text).toBe("c.md\nsrc/a.ts\nsrc/deep/b.ts");
    expect((await call("list_files", { pattern: "src/**/*.ts" })).text).toBe(
      "src/a.ts\nsrc/deep/b.ts",
    );
    expect((await call("list_files", { pattern: "*.py" })).text).toContain("No file");
    const braces = await call("list_files", { pattern: "{a,b}".repeat(16) });
    expect(braces).toMatchObject({ isError: true, note: braces.text });
    expect(braces.text).toContain("stand for more than 100 patterns");
  });

  it("search for no more words than each file can be searched for in a moment", async () => {
    const { call } = await workspace({ "a.txt": "word\n".repeat(200_000) });
    const long = await call("search_workspace", { query: "ab ".repeat(100_000) });
    expect(long).toMatchObject({ isError: true, text: expect.stringContaining("1000 characters") });
  });

  it("write files whole, with their folders and permissions", async () => {
    const { root, call } = await workspace({ "run.sh": "old" }, EVERYTHING);
    await chmod(join(root, "run.sh"), 0o755);
    expect((await call("write_file", { path: "run.sh", content: "new\n" })).text).toBe(
      "Replaced run.sh (1 line).",
    );
    expect((await stat(join(root, "run.sh"))).mode & 0o777).toBe(0o755);
    expect((await call("write_file", { path: "a/b/c.txt", content: "" })).text).toBe(
      "Made a/b/c.txt (0 lines).",
    );
    const large = { path: "large", content: "x".repeat(2 ** 20 + 1) };
    expect(await call("write_file", large)).toMatchObject({ isError: true });
    expect((await readdir(root)).sort()).toEqual(["a", "run.sh"]);
  });

  it("edit what stands in a file once, or everywhere when that is said, in its line endings", async () => {
    const { root, call } = await workspace(
      { "a.txt": "one\r\ntwo\r\nthree", "b.txt": "x x", "bin.dat": "a\0b" },
      EVERYTHING,
    );
    const edit = (path: string, old_text: string, new_text: string, more: object = {}) =>
      call("edit_file", { path, old_text, new_text, ...more });
    expect((await edit("a.txt", "one\ntwo", "1\n2")).text).toBe("Replaced 1 place in a.txt.");
    expect(await readFile(join(root, "a.txt"), "utf8")).toBe("1\r\n2\r\nthree");
    expect((await edit("b.txt", "x", "$&y")).text).toContain("stands there 2 times");
    expect((await edit("b.txt", "x", "$&y", { all: true })).text).toBe(
      "Replaced 2 places in b.txt.",
    );
    expect(await readFile(join(root, "b.txt"), "utf8")).toBe("$&y $&y");
    expect((await edit("b.txt", "z", "y")).text).toContain("does not stand there");
    expect((await edit("b.txt", "$&y $&y", "$&y $&y")).text).toContain("are the same");
    expect((await edit("gone.txt", "a", "b")).text).toContain("There is no file");
    expect((await edit("bin.dat", "a", "b")).text).toContain("not a text file");
  });

  it("write nowhere but in the workspace, and follow no link out of it", async () => {
    const { home, root, call } = await workspace({ "a.txt": "inside", "f/x": "" }, EVERYTHING);
    const outside = join(home, "outside");
    await mkdir(outside);
    await writeFile(join(outside, "secret.txt"), "mine");
    await symlink(outside, join(root, "out"));
    await symlink(join(outside, "secret.txt"), join(root, "link.txt"));
    await symlink(join(root, "gone"), join(root, "dangling"));
    await link(join(outside, "secret.txt"), join(root, "hard.txt"));
    execFileSync("mkfifo", [join(root, "pipe")]);
    const places = [
      ...["../b.txt", join(outside, "b.txt"), "out/b.txt", "out/secret.txt", "link.txt", "."],
      ...[
        "f",
        "f/",
        "a.txt/b",
        "dangling/b.txt",
        "hard.txt",
        "pipe",
        "/dev/null",
        "a\0b",
        "x/../..",
      ],
    ];
    for (const path of places) {
      const written = await call("write_file", { path, content: "theirs" });
      expect(written, path).toMatchObject({ isError: true, note: written.text });
      const edited = await call("edit_file", { path, old_text: "mine", new_text: "theirs" });
      expect(edited.isError, path).toBe(true);
    }
    expect(await readdir(outside)).toEqual(["secret.txt"]);
    expect(await readFile(join(outside, "secret.txt"), "utf8")).toBe("mine");
    expect((await call("read_file", { path: "pipe" })).text).toContain("not a text file");
  });

  it("neither read nor write the gateway's own files in a workspace around them", async () => {
    const { root } = await workspace({
      "home/gateway.json": "the secret word",
      "home/agents/main/approvals/a.json": "the secret word",
      ".clew/gateway.json": "the secret word",
      "project/clew.json": "the secret word",
      "project/clew.json.bak": "the secret word",
      "project/notes.md": "no secret word",
    });
    await symlink("home/gateway.json", join(root, "link"));
    const secrets = {
      home: ["home/gateway.json", "home/agents/main/approvals/a.json", "link"],
      ".clew": [".clew/gateway.json", "./project/../.clew/gateway.json"],
      gone: [],
    };
    for (const [place, closed] of Object.entries(secrets)) {
      const own = { home: join(root, place), configFile: join(root, "project/clew.json") };
      const port = createToolPort({ tools: workspaceTools(() => root, { ...EVERYTHING, own }) });
      const call = async (name: string, given: Record<string, unknown>) => {
        const { signal } = new AbortController();
        const asked = { type: "toolCall" as const, id: "1", name, arguments: given };
        const { content, isError } = await port.run({ call: asked, session, signal });
        return { isError, text: content[0]?.type === "text" ? content[0].text : "" };
      };
      for (const path of [...closed, "project/clew.json", "project/clew.json.bak"]) {
        const text = `"${path}" is one of the gateway's own files, which no tool reads or writes.`;
        expect(await call("read_file", { path })).toEqual({ isError: true, text });
        const edit = { path, old_text: "secret", new_text: "open" };
        expect(await call("edit_file", edit)).toMatchObject({ isError: true });
        expect(await call("write_file", { path, content: "" })).toMatchObject({ isError: true });
      }
      const left = "(The gateway's own files are left out.)";
      const others = ["home/agents/main/approvals/a.json", "home/gateway.json"];
      expect((await call("list_files", {})).text.split("\n")).toEqual([
        ...[...(place === "home" ? [] : others), "project/notes.md", left],
      ]);
      const found = (await call("search_workspace", { query: "secret word" })).text.split("\n");
      expect(found.slice(-2)).toEqual(["project/notes.md:1: no secret word", left]);
      expect(found).toHaveLength(place === "home" ? 2 : 4);
    }
  });

  it("neither read nor write what agents have beside their workspaces, in one within the home", async () => {
    const { root } = await workspace({
      "agents/main/sessions/a.jsonl": "the secret word",
      "agents/main/approvals/a.json": "the secret word",
      "agents/main/workspace/notes.md": "no secret word",
    });
    for (const at of ["agents", "agents/main"]) {
      const own = { home: root, configFile: "/none" };
      const tools = workspaceTools(() => join(root, at), { ...EVERYTHING, own });
      const port = createToolPort({ tools });
      const call = async (name: string, given: Record<string, unknown>) => {
        const { signal } = new AbortController();
        const asked = { type: "toolCall" as const, id: "1", name, arguments: given };
        const { content, isError } = await port.run({ call: asked, session, signal });
        return { isError, text: content[0]?.type === "text" ? content[0].text : "" };
      };
      const below = at === "agents" ? "main/" : "";
      for (const path of [`${below}sessions/a.jsonl`, `${below}approvals/a.json`]) {
        const text = `"${path}" is one of the gateway's own files, which no tool reads or writes.`;
        expect(await call("read_file", { path })).toEqual({ isError: true, text });
        expect((await call("write_file", { path, content: "" })).text).toBe(text);
      }
      const left = "(The gateway's own files are left out.)";
      expect((await call("list_files", {})).text).toBe(`${below}workspace/notes.md\n${left}`);
      expect((await call("search_workspace", { query: "secret word" })).text).toBe(
        `${below}workspace/notes.md:1: no secret word\n${left}`,
      );
      const path = `${below}workspace/new.md`;
      expect((await call("write_file", { path, content: "" })).text).toContain("new.md");
      await rm(join(root, at, path));
    }
  });

  it("show each name on one line, make none that has more, and tell how far a file can be read", async () => {
    const { root, call } = await workspace({ "big.txt": "a line\n".repeat(200_000) }, EVERYTHING);
    await writeFile(join(root, "a\nsecret.txt"), "zebra");
    expect((await call("list_files", {})).text).toBe("a\\nsecret.txt\nbig.txt");
    expect((await call("search_workspace", { query: "zebra" })).text).toBe(
      "a\\nsecret.txt:1: zebra",
    );
    expect((await call("write_file", { path: "b\nc.txt", content: "" })).text).toBe(
      '"b\\nc.txt" is no name for a new file: it holds a control character, such as a line feed.',
    );
    expect((await call("read_file", { path: "big.txt", from_line: 190_000 })).text).toBe(
      'Of "big.txt" only the first 1,048,576 of 1,400,000 bytes can be read, which is up to line 149797.',
    );
    const { text } = await call("run_command", { command: `echo ${"x".repeat(140_000)}` });
    expect(text).toContain("can be run; write a script to a file, and run that.");
  });

  it("say in a sentence why a name cannot be written, and name nothing but it", async () => {
    const { root, call } = await workspace({ "a.txt": "x" }, EVERYTHING);
    const long = "a".repeat(300);
    for (const path of [`${long}.txt`, `${long}/b.txt`, `d/${long}`]) {
      const { text, isError } = await call("write_file", { path, content: "x" });
      expect(isError).toBe(true);
      expect(text).toMatch(
        /^"[^"]{200,210}" cannot be written: a name in the path is longer than the system allows\.$/,
      );
    }
    expect(await readdir(root)).toEqual(["a.txt"]);
  });

  it("run commands in the workspace, without keys, and tell how they ended", async () => {
    const { call } = await workspace({ "a.txt": "hello" }, EVERYTHING);
    const run = (command: string, more: object = {}) => call("run_command", { command, ...more });
    expect((await run("cat a.txt; echo; echo no >&2; exit 3")).text).toBe(
      "hello\nno\n[exit code 3]",
    );
    const variables = (await run("env")).text;
    expect(variables).toContain("CARGO_HOME=shown");
    expect(variables).not.toContain("secret-key");
    expect((await run("cat; echo done")).text).toBe("done\n[exit code 0]");
    expect((await run("kill -9 $$")).text).toBe("(it printed nothing)\n[ended by SIGKILL]");
    const many = await run("yes 0123456789 | head -c 500000");
    expect(many.text.length).toBeLessThan(17_000);
    expect(many.text).toContain("483,616 bytes in the middle are left out");
  });

  it("end a command and all that it began when its time is over or the turn is stopped", async () => {
    const { root, call } = await workspace({}, EVERYTHING);
    const command = "(sleep 30; echo late > late.txt) & echo $! > pid; sleep 30";
    const timed = await call("run_command", { command, timeout_seconds: 0.3 });
    expect(timed.text).toContain("ended, as it ran for more than 300 ms");
    // One that is over may wait to be fetched.
    const isThere = async () => {
      const pid = (await readFile(join(root, "pid"), "utf8")).trim();
      const { stdout } = spawnSync("ps", ["-o", "stat=", "-p", pid], { encoding: "utf8" });
      return /^[^Z\s]/.test(stdout.trim());
    };
    await expect.poll(isThere).toBe(false);
    const stop = new AbortController();
    const stopped = call("run_command", { command }, stop.signal);
    setTimeout(() => stop.abort(), 300);
    await expect(stopped).rejects.toMatchObject({ name: "AbortError" });
    await expect.poll(isThere).toBe(false);
    const left = await call("run_command", { command: "sleep 30 & echo $! > pid; echo went on" });
    expect(left.text).toBe("went on\n[exit code 0]");
    await expect.poll(isThere).toBe(false);
  });

  it("ask first where they are set to, and are refused before that where they cannot run", async () => {
    const { root } = await workspace({ "a.txt": "x" });
    const asked: unknown[] = [];
    const approve: Approve = async ({ call: { arguments: given }, grant }) => {
      asked.push([given, grant]);
      return { kind: "answered", answer: "no", at: "page" };
    };
    const tools = workspaceTools(() => root, {
      ...{ ...EVERYTHING, write: "ask", shell: "ask" },
    });
    const port = createToolPort({ tools, approve });
    const signal = new AbortController().signal;
    const run = (name: string, given: Record<string, unknown>) =>
      port.run({ call: { type: "toolCall", id: "1", name, arguments: given }, session, signal });
    expect(await run("run_command", { command: "touch b" })).toMatchObject({
      ...{ isError: true, note: expect.stringContaining("a person refused it on the page") },
    });
    await run("edit_file", { path: "a.txt", old_text: "y", new_text: "z" });
    await run("write_file", { path: "../b", content: "" });
    expect(asked).toEqual([[{ command: "touch b" }, "touch b"]]);
    expect(await readdir(root)).toEqual(["a.txt"]);
  });
});

describe("while a question waits", () => {
  async function asked(files: Record<string, string>) {
    const { root } = await workspace(files);
    const tools = workspaceTools(() => root, { ...EVERYTHING, write: "ask" });
    const signal = new AbortController().signal;
    /** `meanwhile` happens between the question and its answer, which is yes. */
    const call = (name: string, given: Record<string, unknown>, meanwhile: () => Promise<void>) =>
      createToolPort({
        tools,
        approve: async () => {
          await meanwhile();
          return { kind: "answered", answer: "once", at: "page" };
        },
      }).run({ call: { type: "toolCall", id: "1", name, arguments: given }, session, signal });
    return { root, call };
  }

  it("a file that somebody writes is left as it is, whichever tool asked", async () => {
    const { root, call } = await asked({ "d/f.txt": "one", "e.txt": "one two" });
    const cases = [
      ["write_file", { path: "d/f.txt", content: "ours" }, "changed"],
      ["write_file", { path: "d/new.txt", content: "ours" }, "made"],
      ["write_file", { path: "more/new.txt", content: "ours" }, "made"],
      ["edit_file", { path: "e.txt", old_text: "one", new_text: "ours" }, "changed"],
    ] as const;
    for (const [name, given, what] of cases) {
      const file = join(root, given.path);
      const outcome = await call(name, given, async () => {
        await mkdir(join(file, ".."), { recursive: true });
        await writeFile(file, "one, theirs");
      });
      const text = `"${given.path}" was ${what} by somebody else meanwhile; it is left as it is. Read it again.`;
      expect(outcome).toMatchObject({ isError: true, content: [{ text }] });
      expect(outcome.note).toBe(`allowed once on the page; ${text}`);
      expect(await readFile(file, "utf8")).toBe("one, theirs");
    }
  });

  it("a file keeps what took its place with its own size and time", async () => {
    const { root, call } = await asked({ "f.txt": "one" });
    const file = join(root, "f.txt");
    const before = new Date("2026-01-02");
    await utimes(file, before, before);
    const outcome = await call("write_file", { path: "f.txt", content: "ours" }, async () => {
      await writeFile(file, "two");
      await utimes(file, before, before);
    });
    expect(outcome.isError).toBe(true);
    expect(await readFile(file, "utf8")).toBe("two");
  });

  it("a file that nobody touches is written", async () => {
    const { root, call } = await asked({ "f.txt": "one" });
    await call("write_file", { path: "f.txt", content: "ours" }, async () => {});
    await call("write_file", { path: "new.txt", content: "ours" }, async () => {});
    expect(await readFile(join(root, "f.txt"), "utf8")).toBe("ours");
    expect(await readFile(join(root, "new.txt"), "utf8")).toBe("ours");
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
