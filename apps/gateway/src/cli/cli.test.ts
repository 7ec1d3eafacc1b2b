import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { createOpenAIEmulator } from "@clew/providers/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { createSessionStore } from "../sessions/store.ts";
import { printable } from "../terminal/output.ts";
import { BUILT_CLEW, clew, runClew, startClew } from "../testing/command.ts";
import { emulatedModel } from "../testing/gateway.ts";
import { homeWithOwnPort, temporaryHome } from "../testing/home.ts";
import { user, writeRecording } from "../testing/recording.ts";

async function emulatedHome(answers: Parameters<typeof createOpenAIEmulator>[0]) {
  const server = await createOpenAIEmulator(answers);
  onTestFinished(() => server.close());
  const home = await temporaryHome();
  await writeFile(join(home, "clew.json"), JSON.stringify(emulatedModel(server.baseUrl)));
  return { home, server };
}

describe("clew chat", () => {
  it("answers one message, and remembers it in the next run", async () => {
    const home = await temporaryHome();
    expect(await runClew(home, ["chat", "My cat is called Minka."])).toEqual({
      code: 0,
      output: "Noted.",
      errors: "",
    });
    const asked = ["chat", "What", "is", "my", "cat", "called?"];
    expect((await runClew(home, asked, { fromSource: true })).output).toContain("Minka");
    const shown = await clew(home, ["sessions", "show", "main"]);
    expect(shown.output).toContain("My cat is called Minka.");
    expect((await clew(home, ["sessions", "list"])).output).toMatch(/^session.*\n.*\nmain /);
    expect(
      JSON.parse((await clew(home, ["sessions", "list", "--json"])).output).sessions,
    ).toHaveLength(1);
  });

  it("answers line by line from a pipe", async () => {
    const home = await temporaryHome();
    const child = startClew(home, ["chat", "--session", "pipe"]);
    child.process.stdin!.end("My dog is called Rex.\nWhat is my dog called?\n");
    expect(await child.exit).toBe(0);
    expect(child.lines[0]).toBe("Noted.");
    expect(child.lines[1]).toContain("Rex");
  });

  it("cancels the reply and not the program on Ctrl-C, keeping what had arrived", async () => {
    const { home } = await emulatedHome({
      answers: [{ fault: "hang", text: "begun" }, { text: "second" }],
    });
    const child = startClew(home, ["chat", "--json"]);
    child.process.stdin!.write("hello\n");
    const events = async (type: string) => {
      for (;;) {
        const event = JSON.parse(await child.nextLine());
        if (event.type === type) return event;
      }
    };
    await events("text");
    child.process.kill("SIGINT");
    expect(await events("done")).toMatchObject({ outcome: "aborted" });
    child.process.stdin!.write("again\n");
    expect(await events("done")).toMatchObject({ outcome: "completed" });
    child.process.stdin!.end();
    expect(await child.exit).toBe(0);
    const branch = (await createSessionStore({ home }).read("main"))!.branch;
    expect(
      branch.flatMap((entry) => (entry.type === "message" ? [entry.message] : [])),
    ).toMatchObject([
      { role: "user", content: "hello" },
      { role: "assistant", stopReason: "aborted", content: [{ text: "begun" }] },
      { role: "user", content: "again" },
      { role: "assistant", stopReason: "stop" },
    ]);
  });

  it("ends on SIGTERM in the middle of a reply and leaves no lock", async () => {
    const { home } = await emulatedHome({ answers: [{ fault: "hang", text: "begun" }] });
    const child = startClew(home, ["chat", "--json", "hello"]);
    while (!child.lines.some((line) => line.includes('"text"'))) await child.nextLine();
    child.process.kill("SIGTERM");
    expect(await child.exit).toBe(130);
    const files = await readdir(join(home, "agents/main/sessions"));
    expect(files.filter((name) => name.includes("lock"))).toEqual([]);
  });

  it.each(["SIGINT", "SIGTERM"] as const)(
    "that reads a pipe and waits ends on %s with exit code 130 and leaves no lock",
    async (signal) => {
      const home = await temporaryHome();
      const child = startClew(home, ["chat"]);
      child.process.stdin!.write("My cat is called Minka.\n");
      expect(await child.nextLine()).toBe("Noted.");
      child.process.kill(signal);
      expect(await child.exit).toBe(130);
      expect(child.errors()).toBe("");
      const files = await readdir(join(home, "agents/main/sessions"));
      expect(files.filter((name) => name.includes("lock"))).toEqual([]);
    },
  );

  it("says what the model server did, with a non-zero exit", async () => {
    const { home } = await emulatedHome({ answers: [{ fault: "status", status: 401 }] });
    const { code, errors } = await clew(home, ["chat", "hello"]);
    expect(code).toBe(1);
    expect(errors).toMatch(/^clew: .*401/);
  });

  it("refuses to start with a wrong configuration, listing its problems", async () => {
    const home = await temporaryHome();
    await writeFile(
      join(home, "clew.json"),
      "{ gateway: { port: 'x', bind: 'wan' }, agents: { defaults: { worksapce: 'y' } } }",
    );
    const { code, errors } = await runClew(home, ["chat", "hello"]);
    expect(code).toBe(1);
    expect(errors).toContain("has 2 problems");
    expect(errors).toContain("gateway.port:");
    expect(await readdir(home)).toEqual(["clew.json"]);
  });
});

describe("clew config", () => {
  it("sets, gets and imports", async () => {
    const home = await temporaryHome();
    await runClew(home, ["config", "set", "agents.defaults.model.primary", "ollama/qwen3:8b"]);
    expect((await clew(home, ["config", "get", "agents.defaults.model.primary"])).output).toBe(
      "ollama/qwen3:8b",
    );
    expect((await clew(home, ["config", "set", "gateway.port", "high"])).code).toBe(1);
    const theirs = join(home, "openclaw.json");
    await writeFile(
      theirs,
      "{ agents: { defaults: { model: { primary: 'lmstudio/b' } } }, channels: {} }",
    );
    expect((await clew(home, ["config", "import", theirs])).errors).toContain("--force");
    const imported = await clew(home, ["config", "import", theirs, "--force"]);
    expect(imported.output).toContain("left out channels");
    expect((await clew(home, ["config", "get", "agents.defaults.model.primary"])).output).toBe(
      "lmstudio/b",
    );
    expect(await readFile(join(home, "clew.json.bak"), "utf8")).toContain("qwen3");
    expect(JSON.parse((await clew(home, ["config", "schema"])).output).type).toBe("object");
    const reference = await clew(home, ["config", "reference"]);
    expect(reference.output).toMatch(
      /^\| `agents\.defaults\.compaction\.qualityGuard\.maxRetries` \|/m,
    );
  });
});

describe("clew doctor", () => {
  it("finds what is broken and says what to do", async () => {
    const home = await temporaryHome();
    await clew(home, ["chat", "hello"]);
    expect((await clew(home, ["doctor"])).code).toBe(0);
    await writeFile(join(home, "clew.json"), "{ plugins: { slots: { contextEngine: 'nope' } } }");
    const broken = await runClew(home, ["doctor"]);
    expect(broken.code).toBe(1);
    expect(broken.output).toMatch(/FAILURE +engine: There is no context engine "nope"/);
  });

  it("goes on after a session file that cannot be read", async () => {
    const home = await homeWithOwnPort();
    await clew(home, ["chat", "hello"]);
    await mkdir(join(home, "agents/main/sessions/a-folder.jsonl"));
    const { code, output } = await clew(home, ["doctor"]);
    expect(code).toBe(1);
    expect(output).toMatch(
      /FAILURE {2}session a-folder: .*a-folder\.jsonl cannot be read: it is a folder; make it readable, or move it away/,
    );
    expect(output).toContain("sessions of main: 2 transcripts");
  });

  it("with --fix mends torn files, old locks and the index, losing nothing", async () => {
    const home = await homeWithOwnPort();
    await clew(home, ["chat", "hello"]);
    const folder = join(home, "agents/main/sessions");
    const file = join(folder, (await readdir(folder)).find((name) => name.endsWith(".jsonl"))!);
    const whole = await readFile(file, "utf8");
    await writeFile(file, `${whole}{"type":"mess`);
    await writeFile(join(folder, "sessions.json"), "{");
    const dead = {
      token: "t",
      pid: process.pid,
      started: "long ago",
      host: (await import("node:os")).hostname(),
      since: "",
    };
    await writeFile(`${file}.lock`, JSON.stringify(dead));
    const found = await clew(home, ["doctor", "--json"]);
    const warnings = JSON.parse(found.output).findings.filter(
      (finding: { level: string }) => finding.level === "warning",
    );
    expect(warnings.map(({ code }: { code: string }) => code).sort()).toEqual([
      "index-incomplete",
      "session-damaged",
    ]);
    expect((await clew(home, ["doctor", "--fix"])).code).toBe(0);
    expect(await readFile(file, "utf8")).toBe(whole);
    const names = await readdir(folder);
    expect(names.filter((name) => name.includes("torn"))).toHaveLength(1);
    expect(names.filter((name) => name.includes("lock"))).toEqual([]);
    expect(
      JSON.parse((await clew(home, ["doctor", "--json"])).output).findings.every(
        (finding: { level: string }) => finding.level !== "warning",
      ),
    ).toBe(true);
    expect((await clew(home, ["sessions", "list"])).output).toContain("main");
  });
});

describe("clew", () => {
  it("explains every command", async () => {
    const home = await temporaryHome();
    const commands = [
      [],
      ["start"],
      ["chat"],
      ["replay"],
      ["sessions", "list"],
      ["sessions", "show"],
      ["sessions", "repair"],
      ["policy", "check"],
      ["policy", "apply"],
      ["config", "get"],
      ["config", "set"],
      ["config", "import"],
      ["doctor"],
    ];
    for (const command of commands) {
      const run = command.length === 0 ? runClew : clew;
      const { code, output } = await run(home, [...command, "--help"]);
      expect([command, code]).toEqual([command, 0]);
      expect(output).toContain("Usage: clew");
    }
    await expect(stat(join(home, "logs"))).rejects.toThrow();
  });

  it("ends quietly when nobody reads its output any more", async () => {
    const home = await temporaryHome();
    const folder = join(home, "agents/main/sessions");
    await mkdir(folder, { recursive: true });
    await writeRecording(
      folder,
      Array.from({ length: 100 }, () => user("x".repeat(10_000))),
    );
    const script = `"${process.execPath}" "${BUILT_CLEW}" sessions show recorded | head -c 10`;
    const { stdout, stderr } = await promisify(execFile)("/bin/sh", ["-c", script], {
      env: { ...process.env, CLEW_HOME: home },
    });
    expect([stdout, stderr]).toEqual(["[2026-01-0", ""]);
  });

  it("answers wrong usage with exit code 2", async () => {
    const home = await temporaryHome();
    for (const args of [
      ["fly"],
      ["replay"],
      ["policy", "check", "file.jsonl"],
      ["start", "--port", "-1"],
      ["chat", "--nope"],
    ]) {
      expect((await clew(home, args)).code).toBe(2);
    }
    expect(await runClew(home, ["fly"])).toMatchObject({ code: 2, output: "" });
  });

  it("says what to do when there is no such session, and shows none when there is none", async () => {
    const home = await temporaryHome();
    await mkdir(join(home, "agents"));
    expect(await clew(home, ["sessions", "show", "nope"])).toMatchObject({
      code: 1,
      errors: expect.stringContaining('"clew sessions list"'),
    });
    expect((await clew(home, ["sessions", "list"])).output).toContain("No sessions");
  });
});

describe("text of others on the terminal", () => {
  it("cannot steer it", () => {
    expect(printable("a\u001b[31mred\u001b[0m\u001b]0;title\u0007b\rc\td\n\u0007\u009b2Je")).toBe(
      "aredbc\td\n2Je",
    );
  });
});
