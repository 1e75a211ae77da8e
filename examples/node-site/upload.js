// Runs in the browser. It requests an address for the file from the site, then sends the file to it.
const form = document.querySelector('form')
const status = document.querySelector('[role=status]')

form.addEventListener('submit', async (event) => {
  event.preventDefault()
  const [file] = form.querySelector('input').files
  status.textContent = `Uploading ${file.name} …`
  try {
    const ticket = await fetch('/uploads', { method: 'POST', body: new URLSearchParams({ name: file.name }) })
    if (!ticket.ok) throw new Error('the site gave no address for the upload')
    const { url } = await ticket.json()
    const response = await fetch(url, { method: 'PUT', body: file })
    if (!response.ok) throw new Error((await response.json()).detail)
    window.location.href = `/watch/${response.headers.get('X-Video-Id')}`
  } catch (error) {
    status.textContent = `The upload failed: ${error.message}`
  }
})
