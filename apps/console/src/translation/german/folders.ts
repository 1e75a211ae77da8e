export const folderTexts = {
  folders: {
    folder: 'Ordner {{name}}',
    rename: 'Umbenennen',
    renameTitle: 'Ordner umbenennen',
    renamed: 'Der Ordner wurde umbenannt.',
    delete: 'Ordner löschen',
    deleteTitle: 'Den Ordner „{{name}}“ löschen?',
    deleteText: 'Seine Videos bleiben. Sie sind nur nicht mehr in diesem Ordner. Das kann nicht rückgängig gemacht werden.',
    deleted: 'Der Ordner wurde gelöscht.',
  },
}
