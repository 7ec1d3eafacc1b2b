// Runs a program that prints a credential.
import { spawn } from "node:child_process";
import { SignInError } from "./credential.ts";
import { shownWord } from "./looks-like-key.ts";

/** Program and arguments, or a line for the system's shell. */
export type Command = string | readonly string[];

const MOST_CHARACTERS = 100_000;

/** Pure. Its first word, for sentences; somebody may have put the key there. */
export const shownProgram = (command: Command): string =>
  shownWord((typeof command === "string" ? command : (command[0] ?? "")).split(/\s/)[0] ?? "");

/**
 * What the program printed. Throws a `SignInError` that tells how it ended and never what it said:
 * that may be the secret.
 */
export function runProgram(command: Command, timeoutMs: number): Promise<string> {
  const [program = "", ...given] = typeof command === "string" ? [command] : command;
  const shown = `the command "${shownProgram(command)}"`;
  const byHand = "run it by hand to see why";
  return new Promise((resolve, reject) => {
    const fail = (why: string) => reject(new SignInError(`${shown} ${why}; ${byHand}`));
    const child = spawn(program, given, {
      shell: typeof command === "string",
      stdio: ["ignore", "pipe", "ignore"],
      windowsHide: true,
      // A group of its own, so that what it started ends with it.
      detached: process.platform !== "win32",
    });
    let printed = "";
    let ended = false;
    const end = (then: () => void) => {
      if (ended) return;
      ended = true;
      clearTimeout(timer);
      then();
    };
    const stop = (why: string) =>
      end(() => {
        killGroup(child.pid);
        child.stdout.destroy();
        fail(why);
      });
    const timer = setTimeout(() => stop(`took longer than ${timeoutMs / 1000} s`), timeoutMs);
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      printed += text;
      if (printed.length > MOST_CHARACTERS) stop("printed far more than a credential");
    });
    child.on("error", () => end(() => fail("cannot be started")));
    child.on("close", (code, signal) =>
      end(() =>
        code === 0 ? resolve(printed) : fail(`ended with ${signal ?? `exit code ${code}`}`),
      ),
    );
  });
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(process.platform === "win32" ? pid : -pid, "SIGKILL");
  } catch {
    // It ended by itself.
  }
}
