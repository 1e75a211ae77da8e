/** Texts of the slides of a video. Values in braces are replaced. */
export const presentationTexts = {
  presentation: {
    lead: 'Viewers see the slides next to the video, each from the time that you set.',
    none: 'This video has no slides',
    systemOnly: 'System users can add and change slides.',
    file: 'File with slides',
    fileHelp: 'PDF. PowerPoint and OpenDocument, if the platform has LibreOffice.',
    create: 'Add the slides',
    addSlides: 'Add more slides',
    storeFailed: 'The object store rejected the file with status {{status}}.',
    fileFailed: 'The last file could not be converted',
    slide: 'Slide {{number}}',
    slides_one: '{{count}} slide',
    slides_other: '{{count}} slides',
    time: 'Time of slide {{number}}',
    noTime: 'No time yet',
    show: 'Show in the video',
    startNow: 'Slide {{number}} starts now',
    deleteTitle: 'Delete the slides?',
    deleteText: 'The video stays. This cannot be undone.',
    states: {
      processing: 'The file is being converted',
      'ok, but awaiting timings': 'Some slides have no time yet',
      ok: 'Complete',
      failed: 'Failed',
    },
  },
}
