import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { describe, expect, it, onTestFinished } from "vitest";
import { mayRun, ownProcessStart, processState, type System } from "./process-identity.ts";

const GONE = 2 ** 22 + 1;

/** A process of somebody else's making, and its pid. */
async function startProcess(script: string): Promise<{ pid: number; line: string }> {
  const child = spawn("/bin/sh", ["-c", script], { stdio: ["ignore", "pipe", "ignore"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [line] = await once(child.stdout, "data");
  return { pid: child.pid!, line: String(line).trim() };
}

/** A system that is asked by `program` and remembers how. */
function systemWith(platform: NodeJS.Platform, answer: string | Error) {
  const asked: Parameters<System["run"]>[] = [];
  const run: System["run"] = async (...question) => {
    asked.push(question);
    if (answer instanceof Error) throw answer;
    return answer;
  };
  return { asked, system: { platform, run } satisfies Partial<System> };
}

describe("a process", () => {
  it("has one start, which no other process of its pid has", async () => {
    const { pid } = await startProcess("echo ready; exec sleep 60");
    const state = await processState(pid);
    expect(state).toEqual(await processState(pid));
    expect(state).not.toEqual(await processState(process.pid));
    expect(await mayRun({ pid, started: await ownProcessStart() })).toBe(false);
    expect(await mayRun({ pid: process.pid, started: await ownProcessStart() })).toBe(true);
  });

  it("that nobody has is gone", async () => {
    expect(await processState(GONE)).toEqual({ kind: "gone" });
    expect(await mayRun({ pid: GONE, started: null })).toBe(false);
  });

  it.runIf(process.platform === "linux")("that is a zombie is gone", async () => {
    // The shell becomes a sleep, which never asks what became of the child.
    const { line } = await startProcess("true & echo $!; exec sleep 60");
    await expect.poll(() => processState(Number(line))).toEqual({ kind: "gone" });
    const { system } = systemWith("darwin", "Z    Tue Nov 22 00:04:25 2025\n");
    expect(await processState(process.pid, system)).toEqual({ kind: "gone" });
  });

  it("is told apart on Linux by boot and start, whatever its command is called", async () => {
    const stat = `7 (a) Z (b) S ${Array.from({ length: 30 }, (_, index) => index + 4).join(" ")}`;
    const readFile = (path: string) => (path.endsWith("boot_id") ? "boot\n" : stat);
    const state = await processState(process.pid, { platform: "linux", readFile });
    // Field 22 of the whole line, as proc(5) counts.
    expect(state).toEqual({ kind: "runs", started: "boot:22" });
  });

  it("is told apart on macOS by a time that is the same in every zone and language", async () => {
    const { asked, system } = systemWith("darwin", "Ss   Tue Nov 22 00:04:25 2025\n");
    expect(await processState(process.pid, system)).toEqual({
      kind: "runs",
      started: "Tue Nov 22 00:04:25 2025",
    });
    expect(asked[0]![2]).toEqual({ TZ: "UTC", LC_ALL: "C" });
  });

  it.skipIf(spawnSync("ps", ["-o", "lstart=", "-p", String(process.pid)]).status !== 0)(
    "is told apart by the ps of this machine",
    async () => {
      const state = await processState(process.pid, { platform: "darwin" });
      expect(state).toMatchObject({ started: expect.stringMatching(/\d\d:\d\d:\d\d \d{4}$/) });
    },
  );

  it("is told apart on Windows by what PowerShell says", async () => {
    const { asked, system } = systemWith("win32", "638993000000000000\r\n");
    const state = await processState(process.pid, system);
    expect(state).toEqual({ kind: "runs", started: "638993000000000000" });
    expect(asked[0]!.slice(0, 2)).toEqual([
      "powershell.exe",
      [
        "-NoProfile",
        "-NonInteractive",
        "-Command",
        `(Get-Process -Id ${process.pid}).StartTime.ToUniversalTime().Ticks`,
      ],
    ]);
  });

  it.each<[string, Partial<System>]>([
    ["without ps", systemWith("darwin", new Error("ENOENT")).system],
    ["without PowerShell", systemWith("win32", new Error("ENOENT")).system],
    ["whose PowerShell is forbidden to tell", systemWith("win32", "").system],
    [
      "that hides /proc",
      {
        platform: "linux",
        readFile: () => {
          throw new Error("EACCES");
        },
      },
    ],
  ])("counts as running on a system %s", async (_, system) => {
    expect(await processState(process.pid, system)).toEqual({ kind: "runs", started: null });
    expect(await mayRun({ pid: process.pid, started: "once" }, system)).toBe(true);
    expect(await mayRun({ pid: GONE, started: "once" }, system)).toBe(false);
  });
});
