import { spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { startChild } from "../testing/child.ts";
import { describeRun, runCommand } from "./run-command.ts";

const PATH = process.env.PATH ?? "";

async function shell(signal = new AbortController().signal) {
  const folder = await mkdtemp(join(tmpdir(), "clew-test-shell-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const run = (command: string, more: { timeoutMs?: number } = {}) =>
    runCommand(command, { cwd: folder, env: { PATH }, timeoutMs: 60_000, signal, ...more });
  /** Those a command wrote down, once it has. */
  const processes = async (count: number) => {
    const ids = await vi.waitUntil(
      async () => {
        const text = await readFile(join(folder, "ids"), "utf8").catch(() => "");
        const ids = text.trim().split("\n").map(Number);
        return text.endsWith("\n") && ids.length === count ? ids : undefined;
      },
      { timeout: 120_000 },
    );
    onTestFinished(() => {
      for (const id of ids) if (runs(id)) process.kill(id, "SIGKILL");
    });
    return ids;
  };
  return { folder, run, processes };
}

/** One that is over may wait to be fetched. */
const runs = (id: number): boolean =>
  /^[^Z\s]/.test(
    spawnSync("ps", ["-o", "stat=", "-p", `${id}`], { encoding: "utf8" }).stdout.trim(),
  );

const ended = (ids: readonly number[]) => vi.waitUntil(() => !ids.some(runs), { timeout: 120_000 });

/** Writes down the shell, and a process that only SIGKILL ends. */
const TWO = `(trap "" TERM HUP; echo $$ >> ids; sh -c 'echo $$ >> ids; exec sleep 1000') &`;

describe.skipIf(process.platform === "win32")("a command", () => {
  it("leaves nothing running when it ends", async () => {
    const { run, processes } = await shell();
    const { exitCode } = await run(
      `${TWO} while [ $(wc -l < ids || echo 0) -lt 2 ]; do :; done 2>/dev/null`,
    );
    expect(exitCode).toBe(0);
    await ended(await processes(2));
  });

  it("ends with everything it started when its time is up, though that will not", async () => {
    const { run, processes } = await shell();
    const { timedOutAfterMs } = await run(`trap "" TERM; ${TWO} wait`, { timeoutMs: 300 });
    expect(timedOutAfterMs).toBe(300);
    await ended(await processes(2));
  });

  it("ends when the turn is stopped, with the turn's reason", async () => {
    const stopping = new AbortController();
    const { run, processes } = await shell(stopping.signal);
    const running = run(`${TWO} wait`);
    const ids = await processes(2);
    stopping.abort(new Error("stopped by a person"));
    await expect(running).rejects.toThrow("stopped by a person");
    await ended(ids);
  });

  it("does not begin when the turn was stopped before", async () => {
    const { run, folder } = await shell(AbortSignal.abort());
    await expect((async () => run("echo $$ >> ids"))()).rejects.toThrow();
    await expect(readFile(join(folder, "ids"))).rejects.toThrow("ENOENT");
  });

  it("ends when the gateway is killed", async () => {
    const { folder, processes } = await shell();
    const child = startChild(new URL("../testing/command-process.ts", import.meta.url), [
      ...[folder, `${TWO} wait`],
    ]);
    const ids = await processes(2);
    child.process.kill("SIGKILL");
    await ended(ids);
  });

  it("is not waited for where a process that left its group holds the output", async () => {
    const { run, processes } = await shell();
    const leave = `const { spawn } = require("node:child_process");
      const { pid } = spawn("sleep", ["1000"], { detached: true, stdio: "inherit" });
      require("node:fs").writeFileSync("ids", pid + "\\n");
      process.exit();`;
    const { output, exitCode } = await run(`node -e '${leave}'; echo said`);
    expect(exitCode).toBe(0);
    expect(output).toBe("said\n");
    expect((await processes(1)).some(runs)).toBe(true);
  });

  it("is told in the order in which it printed, in whole characters and without colours", async () => {
    const { run } = await shell();
    const both = "for n in 1 2 3 4 5; do echo out $n; echo err $n >&2; done";
    expect((await run(both)).output).toBe(
      [1, 2, 3, 4, 5].map((n) => `out ${n}\nerr ${n}\n`).join(""),
    );
    expect((await run("printf '\\033[31mred\\033[0m'")).output).toBe("red");
    const many = await run("i=0; while [ $i -lt 9000 ]; do printf 'a€'; i=$((i+1)); done");
    expect(many.cutBytes).toBe(36_000 - 16 * 1024);
    expect(describeRun(many)).not.toContain("\ufffd");
    expect(many.output).toMatch(/^[a€]+\n…\n[a€]+$/);
  });

  it("that cannot be started says so", async () => {
    const { run } = await shell();
    await expect((async () => run("x".repeat(3_000_000)))()).rejects.toThrow("E2BIG");
  });
});
