import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { smallSession } from "./replay/__fixtures__/small-session.ts";
import { findBenches, findCommands, loadBench } from "./runner/find.ts";

const bench = (...args: string[]) => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ["--conditions=@clew/source", join(import.meta.dirname, "run.ts"), ...args],
    { encoding: "utf8" },
  );
  return { status, stdout, stderr };
};

const TIME = "2026-01-01T00:00:00.000Z";
const folder = mkdtempSync(join(tmpdir(), "clew-bench-"));
afterAll(() => rmSync(folder, { recursive: true }));

describe("pnpm bench", () => {
  it("lists every bench with what it is about", () => {
    const { status, stdout } = bench("--list");
    expect(status).toBe(0);
    expect(stdout.split("\n").filter(Boolean).length).toBe(
      findBenches(import.meta.dirname).size + findCommands(import.meta.dirname).size,
    );
    expect(stdout).toMatch(/^tokens +counting/m);
  });

  it("explains itself, and fails with the names there are when it is told none or a wrong one", () => {
    expect(bench("--help")).toMatchObject({ status: 0, stderr: "" });
    expect(bench("stalls", "--help").stdout).toMatch(/^stalls: \d+ sessions chat .*\n\nUsage:/);
    expect(bench("tokens", "--json", folder)).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("is a folder"),
    });
    expect(bench()).toMatchObject({ status: 2, stdout: "" });
    expect(bench("tokenz")).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/There is no bench "tokenz"; there are: .*tokens/),
    });
    expect(bench("tokens", "--rounds", "x").status).toBe(2);
    expect(bench("tokens", "--wrong").status).toBe(2);
  });

  it("skips a bench of recorded sessions when it is given no folder, and says so", () => {
    expect(bench("policy-cuts")).toMatchObject({
      status: 0,
      stdout: expect.stringContaining("policy-cuts: skipped"),
    });
  });

  it("runs part of a bench, prints a table and writes the samples with the machine they were taken on", () => {
    const file = join(folder, "out.json");
    const { status, stdout } = bench(
      "tokens",
      "--filter",
      "estimate english",
      "--rounds",
      "2",
      "--json",
      file,
      "--check",
    );
    expect(status).toBe(0);
    expect(stdout).toMatch(/load [\d.]+.*Node v\d+.*commit/);
    expect(stdout).toMatch(/estimate english 1 MB +×.* [\d.]+/);
    const written = JSON.parse(readFileSync(file, "utf8"));
    expect(written).toMatchObject({
      v: 1,
      machine: { node: process.version },
      benches: [{ bench: "tokens", failures: [] }],
    });
    expect(
      written.benches[0].cases.map((one: { samplesMs: number[] }) => one.samplesMs.length),
    ).toEqual([2, 2, 2]);
  });

  it("writes nothing but JSON to standard output when asked to", () => {
    const { stdout, stderr } = bench(
      "tokens",
      "--filter",
      "estimate x 0.25",
      "--rounds",
      "1",
      "--json",
      "-",
    );
    expect(JSON.parse(stdout)).toMatchObject({ benches: [{ bench: "tokens" }] });
    expect(stderr).toBe("");
  });

  it("hands a command its own options, and tells what is wrong with them", () => {
    const replay = (...args: string[]) => bench("compaction-replay", ...args);
    expect(replay("--help")).toMatchObject({
      status: 0,
      stdout: expect.stringContaining("--engine NAME"),
    });
    expect(replay(join(folder, "nowhere"))).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("There is no folder"),
    });
    expect(replay("--plugin", join(folder, "no-plugin"))).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("no-plugin"),
    });
    expect(replay("--json", join(folder, "nowhere", "out.json"))).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("cannot be written (ENOENT)"),
    });
    expect(replay("--only", "zzz", "--generated", "0")).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('no session to replay whose name contains "zzz"'),
    });
    const strange = mkdtempSync(join(folder, "strange-"));
    writeFileSync(join(strange, "notes.jsonl"), '{"note":"no session"}\n');
    expect(replay(strange, "--generated", "0")).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("notes.jsonl holds no call of a model"),
    });
    expect(replay("--budget", "many").status).toBe(2);
    expect(replay("--wrong").status).toBe(2);
  });

  it("replays the sessions of a folder and writes every cell as JSON", () => {
    const sessions = mkdtempSync(join(folder, "sessions-"));
    const { branch, cwd } = smallSession();
    const header = { type: "session", version: 3, id: "small", timestamp: TIME, cwd };
    const lines = [header, ...branch].map((line) => JSON.stringify(line));
    writeFileSync(join(sessions, "coding-small.jsonl"), lines.join("\n"));
    const options = ["--generated", "0", "--engine", "legacy", "--budget", "4000", "--seed", "1"];
    const { status, stdout } = bench("compaction-replay", sessions, ...options, "--json", "-");
    expect(status).toBe(0);
    const { seed, sections } = JSON.parse(stdout);
    expect(seed).toBe(1);
    expect(sections[0].sessions.map(({ system }: { system: string }) => system)).toEqual([
      "pass-through",
      "raw tail",
      "yardstick",
      "legacy",
    ]);
    expect(sections[0].cells).toContainEqual(
      expect.objectContaining({ measure: "notMade", system: "legacy", figure: 0, items: 15 }),
    );
  });

  it("has a bench of its own name in every file", async () => {
    for (const [name, file] of findBenches(import.meta.dirname))
      expect((await loadBench(name, file)).name).toBe(name);
  });
});
