// Which documentation files are generated, and from what.
import { sourceFiles, whereMarkdown } from "./where.ts";

export function generated(): { path: string; text: string }[] {
  return [{ path: "docs/where.md", text: whereMarkdown(sourceFiles()) }];
}
