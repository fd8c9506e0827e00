/** The files of folders that are chosen or dropped, each with the name it gets in a collection. */

export interface Named {
  file: File;
  name: string;
}

export interface Picked {
  files: Named[];
  /** How many hidden files were left out, such as those of `.git`. */
  hidden: number;
}

interface Located {
  file: File;
  /** With the folders it is in, the chosen one first. */
  path: string;
}

/** Names have no folders, and files of the same name in two of them are two documents. */
const between = " › ";

/** Files that were chosen; those of a folder know where they are in it. */
export const ofInput = (files: Iterable<File>): Picked =>
  named([...files].map((file) => ({ file, path: file.webkitRelativePath || file.name })));

/** Files and folders that were dropped. To be called while the event lasts. */
export async function ofDrop(transfer: DataTransfer): Promise<Picked> {
  const entries = [...transfer.items]
    .map((item) => item.webkitGetAsEntry())
    .filter((entry) => entry !== null);
  // Some programs give files that no file system knows.
  if (entries.length === 0) return ofInput(transfer.files);
  const located: Located[] = [];
  for (const entry of entries) await walk(entry, located);
  return named(located);
}

async function walk(entry: FileSystemEntry, located: Located[]): Promise<void> {
  if (entry.isDirectory) {
    const reader = (entry as FileSystemDirectoryEntry).createReader();
    for (;;) {
      // They come in parts.
      const part = await new Promise<FileSystemEntry[]>((resolve, reject) =>
        reader.readEntries(resolve, reject),
      );
      if (part.length === 0) return;
      for (const inside of part) await walk(inside, located);
    }
  }
  const file = await new Promise<File>((resolve, reject) =>
    (entry as FileSystemFileEntry).file(resolve, reject),
  );
  located.push({ file, path: entry.fullPath.replace(/^\//, "") });
}

/** Exported for tests: where all is in one folder, that one is not named. */
export function named(located: Located[]): Picked {
  const shown = located.filter(({ path }) => !path.split("/").some((part) => part.startsWith(".")));
  const roots = new Set(shown.map(({ path }) => (path.includes("/") ? path.split("/")[0] : null)));
  const isOneFolder = roots.size === 1 && !roots.has(null);
  const files = shown.map(({ file, path }) => {
    const parts = path.split("/");
    return { file, name: (isOneFolder ? parts.slice(1) : parts).join(between) };
  });
  return { files, hidden: located.length - shown.length };
}
