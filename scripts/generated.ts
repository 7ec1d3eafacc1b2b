// Which files are generated, and from what.
import { readdirSync, readFileSync } from "node:fs";
import { commandsReadme } from "./commands.ts";
import { driverTable } from "./drivers.ts";
import { passesModule, passesReadme } from "./passes.ts";
import { providersGuide, wiresReadme } from "./providers.ts";
import { sourceFiles, whereMarkdown } from "./where.ts";

/** Guides print source files whole, so that what a reader copies is what the tests run. */
const GUIDES = readdirSync("docs").flatMap((name) =>
  name.endsWith(".md") && name !== "where.md" ? [`docs/${name}`] : [],
);

export function generated(): { path: string; text: string }[] {
  return [
    driverTable(),
    passesModule(),
    passesReadme(),
    commandsReadme(),
    providersGuide(),
    wiresReadme(),
    { path: "docs/where.md", text: whereMarkdown(sourceFiles()) },
    ...GUIDES.flatMap((path) => {
      const text = readFileSync(path, "utf8");
      const included = withIncludes(text, (file) => readFileSync(file, "utf8"));
      return text.includes("<!-- include: ") ? [{ path, text: included }] : [];
    }),
  ];
}

/** Replaces the code block after each `<!-- include: FILE -->` by that file. */
export function withIncludes(markdown: string, read: (file: string) => string): string {
  return markdown.replaceAll(
    /(<!-- include: (\S+) -->\n```\w*\n)[\s\S]*?(?=^```$)/gm,
    (_block, head: string, file: string) => head + read(file),
  );
}
