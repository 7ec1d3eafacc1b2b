// Says what a failure of the file system means, in words that a person can act on.

/** Whether the file is one of the home, or one that a person named. */
export type StoragePlace = "home" | "elsewhere";

/** What a file system error means, as half a sentence. */
export function storageReason(error: unknown, place: StoragePlace = "home"): string {
  const { code = "", message, path } = error as NodeJS.ErrnoException;
  // It may be a folder on the way.
  if (code === "ELOOP" && path !== undefined) return `${path} ${IS_LINK}`;
  if (code === "ENOENT" && place === "elsewhere") return "there is no such folder";
  return REASONS[code] ?? message;
}

/** What a person can do about it, as half a sentence. */
export function storageAdvice(error: unknown, place: StoragePlace = "home"): string {
  const { code = "" } = error as NodeJS.ErrnoException;
  if (code === "ENOSPC" || code === "EDQUOT") return "free some space";
  if (code === "EFBIG") return "raise that limit";
  if (code === "EISDIR") return "name a file";
  if (code === "ELOOP") return "put what it leads to in its place";
  if (code === "ENAMETOOLONG") return "choose a shorter name";
  if (code === "ENXIO") return "name a file";
  if (!["EACCES", "EPERM", "EROFS", "ENOTDIR", "ENOENT"].includes(code)) return "check the disk";
  return place === "home"
    ? "set CLEW_HOME to a folder you may write to"
    : "name a place that is there and that you may use";
}

const IS_LINK = "is a link, which is never followed";

const REASONS: Record<string, string> = {
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  EFBIG: "the file may not grow further (a size limit of this process or file system)",
  EACCES: "permission denied",
  EPERM: "the operation is not permitted",
  ENOTDIR: "a part of the path is not a folder",
  ENOENT: "no folder can be created there",
  EISDIR: "it is a folder",
  EROFS: "the file system is read-only",
  ENAMETOOLONG: "a name in the path is longer than the system allows",
  ELOOP: `it ${IS_LINK}`,
  ENXIO: "nothing takes what is written there",
  EIO: "the disk reported an error",
};
