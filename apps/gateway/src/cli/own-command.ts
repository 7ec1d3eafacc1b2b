// How a person can run this command again from where it was started.

/** Pure. `folder` is where the running command's files are. */
export function ownCommand(folder: string): string {
  const parts = folder.split(/[\\/]/);
  if (parts.includes("_npx")) return "npx @clew/gateway";
  return parts.includes("node_modules") ? "clew" : "npm run clew --";
}
