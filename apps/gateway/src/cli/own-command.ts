// How a person calls this command again: from a checkout, through npx, or installed.

/** Pure. `folder` is where the running command's files are. */
export function ownCommand(folder: string): string {
  const parts = folder.split(/[\\/]/);
  if (parts.includes("_npx")) return "npx @clew/gateway";
  return parts.includes("node_modules") ? "clew" : "npm run clew --";
}
