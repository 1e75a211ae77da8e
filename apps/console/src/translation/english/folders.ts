/** Texts about a folder that is open in the library. Values in braces are replaced. */
export const folderTexts = {
  folders: {
    folder: 'Folder {{name}}',
    rename: 'Rename',
    renameTitle: 'Rename the folder',
    renamed: 'The folder was renamed.',
    delete: 'Delete the folder',
    deleteTitle: 'Delete the folder “{{name}}”?',
    deleteText: 'Its videos stay. They are only no longer in this folder. This cannot be undone.',
    deleted: 'The folder was deleted.',
  },
}
