// The hash by which reports name contents.
import { hash } from "node:crypto";

export const contentHash = (text: string): string => hash("sha256", text).slice(0, 32);
