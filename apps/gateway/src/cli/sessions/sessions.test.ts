import { execFileSync } from "node:child_process";
import { mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { clew, startClew } from "../../testing/command.ts";
import { heldModel } from "../../testing/held-model.ts";
import { homeWithOwnPort, temporaryHome } from "../../testing/home.ts";

let home: string;
beforeEach(async () => {
  home = await homeWithOwnPort();
  for (const text of ["The tide table is on page 12.", "Thanks."])
    expect((await clew(home, ["chat", "--session", "harbour", text])).code).toBe(0);
  expect((await clew(home, ["chat", "hello"])).code).toBe(0);
});

const json = async (...argv: string[]) => {
  const { code, output, errors } = await clew(home, [...argv, "--json"]);
  expect([code, errors]).toEqual([0, ""]);
  return JSON.parse(output);
};

describe("clew sessions search", () => {
  it("finds what was said anywhere, in any case, and says where", async () => {
    const { output } = await clew(home, ["sessions", "search", "TIDE  table", "--limit", "1"]);
    expect(output).toMatch(/^harbour {2}\d{4}-\d\d-\d\d \d\d:\d\d {2}\w+ {2}.*The tide table/);
    const { found } = await json("sessions", "search", "tide table");
    expect(found.length).toBeGreaterThan(0);
    for (const { session } of found) expect(session).toBe("agent:main:harbour");
  });

  it("finds with --all what was taken back, and says that it was", async () => {
    expect((await clew(home, ["chat", "--session", "harbour", "The lock is green."])).code).toBe(0);
    expect((await clew(home, ["chat", "--session", "harbour", "/undo"])).code).toBe(0);
    expect((await clew(home, ["sessions", "search", "lock is green"])).code).toBe(1);
    const { output } = await clew(home, ["sessions", "search", "lock is green", "--all"]);
    expect(output).toMatch(/^harbour .* \(taken back\) .*The lock is green\./m);
    const { found } = await json("sessions", "search", "lock is green", "--all");
    expect(found.at(-1)).toMatchObject({ session: "agent:main:harbour", isTakenBack: true });
  });

  it("finds words in any order, and regular expressions", async () => {
    const sessions = async (...args: string[]) =>
      (await json("sessions", "search", ...args)).found.map(({ session }: never) => session);
    expect(await sessions("TABLE tide", "--words")).toContain("agent:main:harbour");
    expect(await sessions("page \\d\\d\\.", "--regex")).toContain("agent:main:harbour");
    expect((await clew(home, ["sessions", "search", "tabl", "--words"])).code).toBe(1);
    const both = ["sessions", "search", "tide", "--words", "--regex"];
    for (const wrong of [both, ["sessions", "search", "(", "--regex"]]) {
      const { code, errors } = await clew(home, wrong);
      expect([code, errors]).toEqual([2, expect.stringMatching(/regular expression|pattern/)]);
    }
  });

  it("looks for nothing with exit code 2", async () => {
    expect((await clew(home, ["sessions", "search", " "])).code).toBe(2);
  });

  it("ends with 1 where nobody said it, also of one session", async () => {
    const { code, output } = await clew(home, ["sessions", "search", "lighthouse"]);
    const told = 'Nobody said "lighthouse"; with --all what was taken back counts, too.';
    expect([code, output]).toEqual([1, told]);
    const inMain = ["sessions", "search", "tide table", "--session", "main"];
    expect((await clew(home, inMain)).code).toBe(1);
  });
});

describe("clew sessions tail", () => {
  it("shows the newest entries, and then those that come while it runs", async () => {
    const { output } = await clew(home, ["sessions", "tail", "harbour", "-n", "1"]);
    expect(output).toContain("assistant:");
    const tail = startClew(home, ["sessions", "tail", "harbour", "-n", "1", "--follow", "--json"], {
      fromSource: true,
    });
    expect(await tail.nextLine()).toContain('"role":"assistant"');
    await clew(home, ["chat", "--session", "harbour", "High water is at noon."]);
    while (!(await tail.nextLine()).includes("High water is at noon."));
    tail.process.kill("SIGINT");
    expect(await tail.exit).toBe(130);
    const ids = tail.lines.map((line) => JSON.parse(line).id);
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe("clew sessions fork", () => {
  it("begins a session with all that was said, and leaves the old one", async () => {
    expect(await json("sessions", "fork", "harbour")).toEqual({
      session: "agent:main:harbour-fork-1",
      from: "agent:main:harbour",
    });
    const said = async (name: string) =>
      (await json("sessions", "show", name)).branch.map(({ message }: never) => message);
    expect(await said("harbour-fork-1")).toEqual(await said("harbour"));
    expect((await json("sessions", "fork", "harbour")).session).toMatch(/-fork-2$/);
    expect((await clew(home, ["sessions", "fork", "harbour", "main"])).errors).toContain(
      'There is a session "main" already',
    );
  });

  it("prints a command that a shell reads as it is meant", async () => {
    const fork = async (name: string) =>
      (await clew(home, ["sessions", "fork", "main", name])).output;
    expect(await fork("$(touch x)")).toMatch(/clew chat --session '\$\(touch x\)'$/);
    expect(await fork("agent:main:--yes")).toMatch(/clew chat --session agent:main:--yes$/);
  });

  it("refuses an agent that is not there, and a name that looks like another", async () => {
    const { code, errors } = await clew(home, ["sessions", "fork", "main", "agent:nope:x"]);
    expect(code).toBe(2);
    expect(errors).toMatch(/^clew: There is no agent "nope", only main; .*\[REQUEST_INVALID\]$/);
    for (const argv of [
      ["sessions", "fork", "main", "ma\u202ein"],
      ["sessions", "rename", "main", "ma\u202ein"],
      ["chat", "--session", "ma\u202ein", "hello"],
    ])
      expect(await clew(home, argv)).toMatchObject({
        code: 2,
        errors: expect.stringMatching(/^clew: "ma\\u202ein" holds .*\[SESSION_NAME_INVALID\]$/),
      });
  });
});

describe("clew sessions rename", () => {
  it("gives a session a name that list, show and search tell, and every command takes", async () => {
    expect(await json("sessions", "rename", "harbour", " Tide tables ")).toEqual({
      ...{ session: "agent:main:harbour", label: "Tide tables" },
    });
    expect((await clew(home, ["sessions", "list", "--find", "tide"])).output).toContain(
      'harbour "Tide tables"',
    );
    expect((await clew(home, ["sessions", "show", "Tide tables"])).output).toMatch(
      /^harbour "Tide tables"\n.*The tide table is on page 12\./s,
    );
    expect(await json("sessions", "show", "agent:main:Tide tables")).toMatchObject({
      ...{ key: "agent:main:harbour", label: "Tide tables" },
    });
    const { found } = await json("sessions", "search", "page 12", "--session", "Tide tables");
    expect(found[0]).toMatchObject({ session: "agent:main:harbour", label: "Tide tables" });
    expect((await clew(home, ["chat", "-s", "Tide tables", "High water is at noon."])).code).toBe(
      0,
    );
    expect((await clew(home, ["sessions", "show", "harbour"])).output).toContain("High water");
    expect((await json("sessions", "usage", "Tide tables")).total.modelCalls).toBe(3);
  });

  it("keeps the name when the session begins a new transcript, and takes it away for none", async () => {
    await clew(home, ["sessions", "rename", "harbour", "tides"]);
    await clew(home, ["chat", "-s", "tides", "/new"]);
    await clew(home, ["chat", "-s", "tides", "Low water is at six."]);
    const labels = async () =>
      (await json("sessions", "list")).sessions.map(({ key, label }: never) => [key, label]);
    expect(await labels()).toEqual([
      ["agent:main:harbour", "tides"],
      ["agent:main:main", undefined],
      [expect.stringMatching(/^agent:main:harbour\.\d/), undefined],
    ]);
    const { output } = await clew(home, ["sessions", "rename", "tides", ""]);
    expect(output).toBe('Session "harbour" has no other name any more.');
    expect((await clew(home, ["sessions", "show", "tides"])).code).toBe(1);
  });

  it("gives no other name where it is the session's own, and takes away the one it had", async () => {
    await clew(home, ["sessions", "rename", "harbour", "tides"]);
    expect((await clew(home, ["sessions", "rename", "tides", "harbour"])).output).toBe(
      'Session "harbour" has that name by itself, and no other one.',
    );
    expect(await json("sessions", "rename", "harbour", "harbour")).toEqual({
      ...{ session: "agent:main:harbour", label: null },
    });
    const { sessions } = await json("sessions", "list");
    expect(sessions.filter(({ label }: { label?: string }) => label !== undefined)).toEqual([]);
  });

  it("refuses a name that another session has, or that is none", async () => {
    const refused = async (...argv: string[]) => {
      const { code, errors } = await clew(home, ["sessions", "rename", ...argv]);
      return [code, errors];
    };
    expect(await refused("harbour", "main")).toEqual([
      2,
      expect.stringContaining('Session "main" is called "main" already'),
    ]);
    expect(await refused("harbour", "agent:main:main")).toEqual([
      2,
      expect.stringContaining('choose a name without "agent:"'),
    ]);
    expect((await refused("harbour", "x".repeat(101)))[0]).toBe(2);
    expect(await refused("harbuor", "tides")).toEqual([
      1,
      expect.stringContaining('did you mean "harbour"?'),
    ]);
  });

  it("is seen by a running gateway at once", async () => {
    const gateway = startClew(home, ["start"]);
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(await gateway.nextLine())![0];
    const rows = async () =>
      (await (await fetch(`${url}/api/sessions?find=tides`)).json()).sessions;
    expect(await rows()).toEqual([]);
    await clew(home, ["sessions", "rename", "harbour", "tides"]);
    expect(await rows()).toMatchObject([{ key: "agent:main:harbour", label: "tides" }]);
    expect((await clew(home, ["chat", "-s", "tides", "Noon."])).code).toBe(0);
    expect((await clew(home, ["sessions", "show", "harbour"])).output).toContain("Noon.");
    gateway.process.kill("SIGTERM");
    await gateway.exit;
  });
});

describe("clew sessions delete", () => {
  it("says what would go, and lets it go with --yes", async () => {
    const said = await clew(home, ["sessions", "delete", "harbour"]);
    expect(said.output).toMatch(/^Would delete 1 session \(harbour\), .* Add --yes to do it/);
    expect((await clew(home, ["sessions", "show", "harbour"])).code).toBe(0);
    const { code, output } = await clew(home, ["sessions", "delete", "harbour", "--yes"]);
    expect([code, output]).toEqual([0, expect.stringMatching(/^Deleted 1 session \(harbour\), /)]);
    // Nothing was ever stored by that engine here.
    expect(output).not.toContain("lossless");
    expect((await clew(home, ["sessions", "show", "harbour"])).code).toBe(1);
    expect((await clew(home, ["sessions", "show", "main"])).code).toBe(0);
  });

  it("says what the lossless engine keeps once it has stored something", async () => {
    const other = await temporaryHome();
    const chat = ["chat", "--engine", "lossless", "-s", "kept", "hello"];
    expect((await clew(other, chat)).code).toBe(0);
    const { output } = await clew(other, ["sessions", "delete", "kept", "--yes"]);
    expect(output).toContain('"clew lossless forget --session NAME" takes it out');
  });

  it("lets who takes the name begin with nothing spent", async () => {
    const other = await temporaryHome();
    const model = await heldModel({
      cost: { input: 100, output: 100, cacheRead: 0, cacheWrite: 0 },
    });
    const gateway = { costCaps: { sessionDollars: 0.000_001 } };
    await writeFile(join(other, "clew.json"), JSON.stringify({ ...model.config, gateway }));
    const chat = () => clew(other, ["chat", "-s", "dear", "hello"]);
    const answered = async () => {
      void model.answer("Hi.");
      return (await chat()).code;
    };
    expect(await answered()).toBe(0);
    expect((await chat()).code).not.toBe(0);
    expect((await clew(other, ["sessions", "delete", "dear", "--yes"])).code).toBe(0);
    expect(await answered()).toBe(0);
  });

  it("deletes nothing where one of the names is wrong", async () => {
    const { code, errors } = await clew(home, ["sessions", "delete", "main", "harbuor", "--yes"]);
    expect([code, errors]).toEqual([1, expect.stringContaining('did you mean "harbour"?')]);
    expect((await clew(home, ["sessions", "show", "main"])).code).toBe(0);
  });
});

describe("clew sessions export", () => {
  it("writes into a pipe that waits for it, and leaves the pipe where it is", async () => {
    const pipe = join(home, "pipe");
    execFileSync("mkfifo", [pipe]);
    const arrived = readFile(pipe, "utf8");
    await clew(home, ["sessions", "export", "harbour", "--out", pipe]);
    expect(await arrived).toContain("harbour");
    expect((await stat(pipe)).isFIFO()).toBe(true);
  });

  it("replaces a file only when told to, leaves it as open as it was, and prints for -", async () => {
    const out = join(await temporaryHome(), "shared.md");
    await writeFile(out, "before", { mode: 0o644 });
    const asked = ["sessions", "export", "harbour", "--out", out];
    const refused = await clew(home, asked);
    expect([refused.code, await readFile(out, "utf8")]).toEqual([2, "before"]);
    expect(refused.errors).toContain("is there already; name another file, or add --force");
    expect((await clew(home, [...asked, "--force"])).code).toBe(0);
    expect((await stat(out)).mode & 0o777).toBe(0o644);
    const { output } = await clew(home, ["sessions", "export", "harbour", "--out", "-"]);
    expect(`${output}\n`).toBe(await readFile(out, "utf8"));
  });

  it("never replaces a file of its home, such as the session itself", async () => {
    const { file } = await json("sessions", "show", "harbour");
    const before = await readFile(file, "utf8");
    const asked = ["sessions", "export", "harbour", "--force", "--out", file];
    const { code, errors } = await clew(home, asked);
    expect([code, errors]).toEqual([2, expect.stringContaining("is a file of Clew's own home")]);
    expect(await readFile(file, "utf8")).toBe(before);
  });

  it("prints Markdown, or the session file byte for byte, and writes either", async () => {
    const { output } = await clew(home, ["sessions", "export", "harbour"]);
    expect(output).toMatch(/^# Session harbour\n\n## You\n\nThe tide table is on page 12\./);
    const out = join(home, "harbour.jsonl");
    await clew(home, ["sessions", "export", "harbour", "--as", "jsonl", "--out", out]);
    const { file } = await json("sessions", "show", "harbour");
    expect(await readFile(out, "utf8")).toBe(await readFile(file, "utf8"));
  });

  it("as a session file is taken in under its own name, and beside one that has it", async () => {
    const out = join(await temporaryHome(), "harbour.jsonl");
    await clew(home, ["sessions", "export", "harbour", "--as", "jsonl", "--out", out]);
    const other = await temporaryHome();
    const taken = async (place: string) => {
      const { output } = await clew(place, ["sessions", "import", out, "--json"]);
      const [session] = JSON.parse(output).imported[0].sessions;
      return [session.key, session.state];
    };
    expect(await taken(other)).toEqual(["agent:main:harbour", "imported"]);
    expect(await taken(other)).toEqual(["agent:main:harbour", "known"]);
    const another = await temporaryHome();
    await clew(another, ["chat", "--session", "harbour", "Another harbour."]);
    expect((await taken(another))[0]).toMatch(/^agent:main:pi:/);
  });

  it("takes no flag for the name of its file", async () => {
    const { code, errors } = await clew(home, ["sessions", "export", "harbour", "-o", "--json"]);
    expect([code, errors]).toEqual([2, expect.stringContaining("-o needs a value")]);
    await expect(stat("--json")).rejects.toThrow("ENOENT");
  });

  it("names the path that cannot be written", async () => {
    const out = join(home, "none/harbour.md");
    const { code, errors } = await clew(home, ["sessions", "export", "harbour", "--out", out]);
    expect([code, errors]).toEqual([1, expect.stringContaining(`${out} could not be written`)]);
  });
});

describe("clew sessions usage", () => {
  it("is clew usage of that session", async () => {
    expect(await json("sessions", "usage", "harbour")).toEqual(await json("usage", "harbour"));
  });
});

describe("a list of sessions that cannot be written", () => {
  it("is no bug, and is named", async () => {
    const file = join(home, "agents/main/sessions/sessions.json");
    await rm(file);
    await mkdir(file);
    const { code, errors } = await clew(home, ["sessions", "rename", "main", "other"]);
    expect(code).toBe(1);
    expect(errors).toMatch(
      /^clew: The list of sessions \S+\/sessions\.json could not be written: .*\[STORAGE_FAILED\]$/,
    );
  });
});
