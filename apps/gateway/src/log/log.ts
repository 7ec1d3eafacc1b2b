// The gateway's log of structured lines, with keys masked.
import { join } from "node:path";
import type { LogPort } from "@clew/engine-core";
import { pino } from "pino";
import {
  DEFAULT_ROTATION,
  type RotatingFile,
  type RotationOptions,
  rotatingFile,
} from "./rotating-file.ts";

export const logFile = (home: string) => join(home, "logs", "gateway.log");

export interface GatewayLog extends LogPort {
  close(): void;
}

export interface LogOptions {
  /** Absent: nothing is written down. */
  file?: string;
  rotation?: RotationOptions;
  /** The least that is written down. */
  level?: "info" | "warn" | "error";
  /** Texts that are secrets of this home, which are hidden wherever they stand. */
  secrets?: readonly string[];
  /** Called with every warning and error, e.g. to show it on the terminal too. */
  onProblem?: (level: "warn" | "error", message: string, fields: Record<string, unknown>) => void;
}

const SECRET_NAMES = [
  ...["apiKey", "authorization", "token", "password", "secret", "headers", "cookie"],
  ...['["x-api-key"]', '["x-goog-api-key"]', '["x-clew-token"]'],
];

/** Keys in messages of servers and libraries: `sk-…`, `Bearer …` and the like. */
const SECRET_TEXT =
  /\b(sk|pk|rk|xox[a-z]|gh[a-z]|key)[-_][A-Za-z0-9_-]{12,}|\bBearer\s+[A-Za-z0-9._~+/=-]{8,}|\bAIza[A-Za-z0-9_-]{20,}/g;

export function maskKeys(text: string): string {
  return text.replace(SECRET_TEXT, "(hidden)");
}

/** With what is known to be secret hidden in any text. */
export const hider = (secrets: readonly string[]) => (text: string) =>
  secrets.reduce((hidden, secret) => hidden.replaceAll(secret, "(hidden)"), maskKeys(text));

const NOWHERE: RotatingFile = { write: () => {}, close: () => {} };

export function createLog({
  file,
  rotation = DEFAULT_ROTATION,
  level: least = "info",
  secrets = [],
  onProblem,
}: LogOptions): GatewayLog {
  const hide = hider(secrets);
  const destination = file === undefined ? NOWHERE : rotatingFile(file, rotation);
  const logger = createPino({
    // Whole lines, so that nothing in a field is missed.
    write: (line) => destination.write(hide(line)),
    close: destination.close,
  });
  logger.level = least;
  const at =
    (level: "info" | "warn" | "error") =>
    (message: string, fields: Record<string, unknown> = {}) => {
      const masked = hide(message);
      logger[level](fields, masked);
      if (level !== "info") onProblem?.(level, masked, fields);
    };
  return {
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    close: () => destination.close(),
  };
}

function createPino(destination: RotatingFile) {
  const paths = SECRET_NAMES.flatMap((name) => {
    const below = name.startsWith("[") ? name : `.${name}`;
    return [name, `*${below}`, `*.*${below}`];
  });
  const options = {
    base: { pid: process.pid },
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: { paths, censor: "(hidden)" },
  };
  return pino(options, destination);
}
