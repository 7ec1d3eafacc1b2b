// Runs a file of ours, TypeScript or built, in a process of its own.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

export interface Child {
  process: ChildProcess;
  /** Lines of its standard output, in order. */
  lines: string[];
  /** The next line not yet taken; rejects when the process ends before one. */
  nextLine(): Promise<string>;
  exit: Promise<number | null>;
  /** Its standard error so far, when asked for. */
  errors(): string;
}

/** `shellPrefix`: shell commands before the exec, e.g. "ulimit -f 8". */
export function startChild(
  file: URL,
  args: string[],
  options: { shellPrefix?: string; env?: NodeJS.ProcessEnv; ipc?: boolean; stderr?: boolean } = {},
): Child {
  const isSource = file.pathname.endsWith(".ts");
  const node = [
    process.execPath,
    ...(isSource ? ["--conditions=@clew/source", "--disable-warning=ExperimentalWarning"] : []),
    fileURLToPath(file),
    ...args,
  ];
  const prefix = options.shellPrefix === undefined ? "" : `${options.shellPrefix}; `;
  const child = spawn("/bin/sh", ["-c", `${prefix}exec "$@"`, "sh", ...node], {
    stdio: [
      "pipe",
      "pipe",
      options.stderr ? "pipe" : "inherit",
      ...(options.ipc ? (["ipc"] as const) : []),
    ],
    env: { ...process.env, ...options.env },
  });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  const lines: string[] = [];
  const waiting: (() => void)[] = [];
  let taken = 0;
  let ended = false;
  const wake = () => {
    for (const resume of waiting.splice(0)) resume();
  };
  let errors = "";
  child.stderr?.on("data", (piece) => {
    errors += piece;
  });
  const reader = createInterface({ input: child.stdout! });
  reader.on("line", (line) => {
    lines.push(line);
    wake();
  });
  reader.on("close", () => {
    ended = true;
    wake();
  });
  // "close" does not come for a child whose channel we closed; its end and that of its output do.
  const exit = Promise.all([once(child, "exit"), once(reader, "close")]).then(
    ([[code]]) => code as number | null,
  );
  const nextLine = async () => {
    while (taken >= lines.length) {
      if (ended) throw new Error(`the child ended after: ${lines.join("\n")}`);
      await new Promise<void>((resume) => waiting.push(resume));
    }
    return lines[taken++]!;
  };
  return { process: child, lines, nextLine, exit, errors: () => errors };
}
