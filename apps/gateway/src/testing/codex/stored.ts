// What the transcript of a world's session says.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { CodexWorld } from "./world.ts";

interface Line {
  type: string;
  message?: { role: string; content: string | { type: string; text?: string; name?: string }[] };
}

/** As "role: text", oldest first. */
export function describeSaid({ home }: Pick<CodexWorld, "home">): string[] {
  const folder = join(home, "agents/main/sessions");
  const file = readdirSync(folder).find((name) => name.endsWith(".jsonl"))!;
  const lines = readFileSync(join(folder, file), "utf8").trim().split("\n");
  return lines
    .map((line) => JSON.parse(line) as Line)
    .flatMap(({ type, message }) =>
      type === "message" && message !== undefined ? [`${message.role}: ${textOf(message)}`] : [],
    );
}

const textOf = ({ content }: NonNullable<Line["message"]>): string =>
  typeof content === "string"
    ? content
    : content.map((block) => block.text ?? `[${block.name ?? block.type}]`).join("");
